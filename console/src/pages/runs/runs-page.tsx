import { useEffect } from "react";
import { useLocation } from "wouter";
import { useTexts } from "../../app/language.tsx";
import { PageHeader } from "../../app/page-header.tsx";
import { ErrorState, LoadingLines } from "../../components/states.tsx";
import { hrefOfStory, useStory } from "../../data/story.ts";
import { RunList } from "./run-list.tsx";
import { RunPage } from "./run-page.tsx";

/** `/runs`: the list; `/runs/{id}`: a run; `/runs/{anything else that has a story}` leads to its page. */
export function RunsPage() {
  // The hook that watches the URL; a pasted link in it may hold slashes, so it is read undecoded.
  useLocation();
  const id = idOf(window.location.pathname);
  if (id === null) return <RunList />;
  return id.startsWith("run_") ? <RunPage key={id} id={id} /> : <Resolved id={id} />;
}

function idOf(pathname: string): string | null {
  const rest = /^\/runs\/(.+)$/.exec(pathname)?.[1];
  try {
    return rest === undefined ? null : decodeURIComponent(rest);
  } catch {
    return rest ?? null;
  }
}

/** Looks for what the id means, and goes there. */
function Resolved({ id }: { id: string }) {
  const t = useTexts();
  const [, navigate] = useLocation();
  const story = useStory(id);
  const href = story.data ? hrefOfStory(story.data) : null;
  useEffect(() => {
    if (href !== null) navigate(href, { replace: true });
  }, [href, navigate]);
  return (
    <>
      <PageHeader title={t("console.page.runs")} />
      {story.isError ? (
        <ErrorState error={story.error} retry={() => void story.refetch()} />
      ) : (
        <LoadingLines />
      )}
    </>
  );
}
