import { PackageCheck } from "lucide-react";
import { useTexts } from "../../app/language.tsx";
import { PageHeader } from "../../app/page-header.tsx";
import { EmptyState } from "../../components/states.tsx";

/** Its place in the shell; what it shows comes next. */
export function DeliveriesPage() {
  const t = useTexts();
  return (
    <>
      <PageHeader title={t("console.page.deliveries")} />
      <EmptyState icon={PackageCheck} title={t("console.page.later")} />
    </>
  );
}
