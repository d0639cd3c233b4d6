import {
  ActionIcon,
  Button,
  createTheme,
  Drawer,
  Menu,
  Modal,
  Popover,
  SegmentedControl,
} from "@mantine/core";

/**
 * The kit's defaults. Colours come from tokens.css. Nothing here may need a <style> at run time: scrolling of the body
 * is never locked (it does not scroll), since the kit would do that with one.
 */
export const theme = createTheme({
  primaryColor: "teal",
  focusRing: "auto",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Modal: Modal.extend({
      defaultProps: { lockScroll: false, radius: "md", centered: false, yOffset: "12vh" },
    }),
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false } }),
    Menu: Menu.extend({ defaultProps: { shadow: "md", radius: "md", transitionProps: { duration: 0 } } }),
    Popover: Popover.extend({ defaultProps: { shadow: "md", radius: "md" } }),
    // its grey indicator takes the kit's white for its text, which tokens.css makes the text on the accent
    SegmentedControl: SegmentedControl.extend({ defaultProps: { color: "var(--accent)" } }),
    Button: Button.extend({ defaultProps: { radius: "md" } }),
    ActionIcon: ActionIcon.extend({ defaultProps: { radius: "md", variant: "subtle" } }),
  },
});
