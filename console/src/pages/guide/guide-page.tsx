import { Compass } from "lucide-react";
import { useTexts } from "../../app/language.tsx";
import { PageHeader } from "../../app/page-header.tsx";
import { EmptyState } from "../../components/states.tsx";

/** Its place in the shell; what it shows comes next. */
export function GuidePage() {
  const t = useTexts();
  return (
    <>
      <PageHeader title={t("console.page.guide")} />
      <EmptyState icon={Compass} title={t("console.page.later")} />
    </>
  );
}
