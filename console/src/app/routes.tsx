import { MapPinOff } from "lucide-react";
import { Suspense } from "react";
import { Link, Redirect, useLocation } from "wouter";
import { EmptyState, LoadingLines } from "../components/states.tsx";
import { useTexts } from "./language.tsx";
import { PageHeader } from "./page-header.tsx";
import { pageOf } from "./pages.ts";
import { Shell } from "./shell.tsx";

/** Which page the address of this window means. What a page needs beyond that it reads from the URL itself. */
export function Routes() {
  const [pathname] = useLocation();
  const row = pageOf(pathname);
  if (pathname === "/") return <Redirect to="/chat" replace />;
  const Page = row?.page ?? NotFound;
  return (
    <Shell side={row?.side}>
      <Suspense fallback={<LoadingLines />}>
        <Page />
      </Suspense>
    </Shell>
  );
}

function NotFound() {
  const t = useTexts();
  return (
    <>
      <PageHeader title={t("console.not_found.title")} />
      <EmptyState icon={MapPinOff} title={t("console.not_found.text")}>
        <Link href="/chat">{t("console.page.chat")}</Link>
      </EmptyState>
    </>
  );
}
