import { Menu, useMantineColorScheme } from "@mantine/core";
import { Keyboard, Languages, Monitor, Moon, Search, Settings, Sun } from "lucide-react";
import { useLanguage } from "./language.tsx";
import classes from "./rail.module.css";
import { useShell } from "./shell-controls.ts";

const schemes = [
  { value: "auto", label: "console.theme.auto", icon: Monitor },
  { value: "light", label: "console.theme.light", icon: Sun },
  { value: "dark", label: "console.theme.dark", icon: Moon },
] as const;

const languages = [
  { value: "en", label: "English" },
  { value: "ko", label: "한국어" },
] as const;

/** Light or dark, the language, and where help is. */
export function SettingsMenu() {
  const { t, locale, choose } = useLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { openHelp, openPalette } = useShell();
  return (
    <Menu position="right-end" withinPortal withInitialFocusPlaceholder={false} width={220}>
      <Menu.Target>
        <button
          type="button"
          className={classes["settings"]}
          aria-label={t("console.settings")}
          title={t("console.settings")}
        >
          <Settings size={20} strokeWidth={1.75} aria-hidden />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t("console.theme")}</Menu.Label>
        <Menu.RadioGroup
          value={colorScheme}
          onChange={(value) => setColorScheme(value as (typeof schemes)[number]["value"])}
        >
          {schemes.map(({ value, label, icon: Icon }) => (
            <Menu.RadioItem
              key={value}
              value={value}
              closeMenuOnClick
              rightSection={<Icon size={16} aria-hidden />}
            >
              {t(label)}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Label>{t("console.language")}</Menu.Label>
        <Menu.RadioGroup value={locale} onChange={(value) => choose(value === "ko" ? "ko" : "en")}>
          {languages.map(({ value, label }) => (
            <Menu.RadioItem
              key={value}
              value={value}
              closeMenuOnClick
              lang={value}
              rightSection={<Languages size={16} aria-hidden />}
            >
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item leftSection={<Search size={16} aria-hidden />} onClick={openPalette}>
          {t("console.palette")}
        </Menu.Item>
        <Menu.Item leftSection={<Keyboard size={16} aria-hidden />} onClick={openHelp}>
          {t("console.keys")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
