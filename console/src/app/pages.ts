import {
  CalendarClock,
  Compass,
  MessagesSquare,
  PackageCheck,
  PlayCircle,
  RadioTower,
  type LucideIcon,
} from "lucide-react";
import { lazy, type ComponentType } from "react";
import type { TextKey } from "../../../src/texts/render.ts";
import { ChatPage } from "../pages/chat/chat-page.tsx";
import { ConversationList } from "../pages/chat/conversation-list.tsx";

/** A page of the console. How one is added stands in console/README.md. */
export interface PageRow {
  /** Everything at and below this path is the page's. */
  path: string;
  label: TextKey & `console.page.${string}`;
  icon: LucideIcon;
  /** The second key of the shortcut `g` + key. */
  key: string;
  page: ComponentType;
  /** What stands in the panel at the left, if the page has something there. */
  side?: ComponentType;
}

const named = <N extends string>(name: N, load: () => Promise<Record<N, ComponentType>>) =>
  lazy(async () => ({ default: (await load())[name] }));

/** The chat is in the first load; the others come when they are opened. */
export const pages: readonly PageRow[] = [
  {
    path: "/chat",
    label: "console.page.chat",
    icon: MessagesSquare,
    key: "c",
    page: ChatPage,
    side: ConversationList,
  },
  {
    path: "/runs",
    label: "console.page.runs",
    icon: PlayCircle,
    key: "r",
    page: named("RunsPage", () => import("../pages/runs/runs-page.tsx")),
  },
  {
    path: "/deliveries",
    label: "console.page.deliveries",
    icon: PackageCheck,
    key: "d",
    page: named("DeliveriesPage", () => import("../pages/deliveries/deliveries-page.tsx")),
  },
  {
    path: "/schedules",
    label: "console.page.schedules",
    icon: CalendarClock,
    key: "s",
    page: named("SchedulesPage", () => import("../pages/schedules/schedules-page.tsx")),
  },
  {
    path: "/access",
    label: "console.page.channels",
    icon: RadioTower,
    key: "n",
    page: named("ChannelsPage", () => import("../pages/channels/channels-page.tsx")),
  },
  {
    path: "/guide",
    label: "console.page.guide",
    icon: Compass,
    key: "g",
    page: named("GuidePage", () => import("../pages/guide/guide-page.tsx")),
  },
];

export function pageOf(pathname: string): PageRow | undefined {
  return pages.find(({ path }) => pathname === path || pathname.startsWith(`${path}/`));
}
