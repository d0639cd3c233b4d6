import { PlayCircle } from "lucide-react";
import { useTexts } from "../../app/language.tsx";
import { PageHeader } from "../../app/page-header.tsx";
import { EmptyState } from "../../components/states.tsx";

/** Its place in the shell; what it shows comes next. */
export function RunsPage() {
  const t = useTexts();
  return (
    <>
      <PageHeader title={t("console.page.runs")} />
      <EmptyState icon={PlayCircle} title={t("console.page.later")} />
    </>
  );
}
