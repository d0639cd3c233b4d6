import { useLocation } from "wouter";
import { DeliveryList } from "./delivery-list.tsx";
import { DeliveryPage } from "./delivery-page.tsx";

/** `/deliveries`: the list; `/deliveries/{id}`: one of them. */
export function DeliveriesPage() {
  const [pathname] = useLocation();
  const id = /^\/deliveries\/([^/]+)$/.exec(pathname)?.[1];
  return id === undefined ? <DeliveryList /> : <DeliveryPage key={id} id={id} />;
}
