import type { ReactNode } from "react";
import { ErrorState, LoadingLines } from "../states.tsx";
import { ListEnd } from "./table.tsx";

/** What `usePages` gives, as far as a list needs it. */
export interface ListPages<T> {
  items: readonly T[];
  isPending: boolean;
  isError: boolean;
  error: unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  refetch(): unknown;
  fetchNextPage(): unknown;
}

/** A list in each of its states: loading, failed, empty, or its table with how many are shown. */
export function RecordList<T>(props: {
  pages: ListPages<T>;
  empty: ReactNode;
  shown: (count: number) => string;
  children: (items: readonly T[]) => ReactNode;
}) {
  const { pages, empty, shown, children } = props;
  if (pages.isPending) return <LoadingLines lines={8} />;
  if (pages.isError) return <ErrorState error={pages.error} retry={() => void pages.refetch()} />;
  if (pages.items.length === 0) return empty;
  return (
    <>
      {children(pages.items)}
      <ListEnd
        text={shown(pages.items.length)}
        more={pages.hasNextPage}
        busy={pages.isFetchingNextPage}
        onMore={() => void pages.fetchNextPage()}
      />
    </>
  );
}
