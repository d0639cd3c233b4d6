/// <reference types="vite/client" />

/** The version of the package that this console was built from. */
declare const __WAYBILL_VERSION__: string;
