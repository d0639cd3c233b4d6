import { Menu, useMantineColorScheme } from "@mantine/core";
import { Check, Keyboard, Languages, Monitor, Moon, Search, Settings, Sun } from "lucide-react";
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
  const check = (on: boolean) => (on ? <Check size={14} aria-hidden /> : null);
  return (
    <Menu position="right-end" withinPortal width={220}>
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
        {schemes.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            role="menuitemradio"
            aria-checked={colorScheme === value}
            leftSection={<Icon size={16} aria-hidden />}
            rightSection={check(colorScheme === value)}
            onClick={() => setColorScheme(value)}
          >
            {t(label)}
          </Menu.Item>
        ))}
        <Menu.Label>{t("console.language")}</Menu.Label>
        {languages.map(({ value, label }) => (
          <Menu.Item
            key={value}
            role="menuitemradio"
            aria-checked={locale === value}
            lang={value}
            leftSection={<Languages size={16} aria-hidden />}
            rightSection={check(locale === value)}
            onClick={() => choose(value)}
          >
            {label}
          </Menu.Item>
        ))}
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
