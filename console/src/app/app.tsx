import { localStorageColorSchemeManager, MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { useEffect } from "react";
import { LiveRegion } from "../components/live-region.tsx";
import { queryClient } from "../data/client.ts";
import { runLive } from "../data/live.ts";
import { AccessGate } from "./access-gate.tsx";
import { LanguageProvider } from "./language.tsx";
import { Routes } from "./routes.tsx";
import { theme } from "./theme.ts";

const colourScheme = localStorageColorSchemeManager({ key: "waybill.scheme" });

/** All that is around every page. */
export function App() {
  useEffect(() => {
    const stop = new AbortController();
    void runLive(stop.signal);
    return () => stop.abort();
  }, []);
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={colourScheme}
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <LanguageProvider>
        <QueryClientProvider client={queryClient}>
          <AccessGate>
            <Routes />
          </AccessGate>
          <LiveRegion />
        </QueryClientProvider>
      </LanguageProvider>
    </MantineProvider>
  );
}
