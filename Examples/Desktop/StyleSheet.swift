import CAdwaita

/// The colors of the bars, from libadwaita's palette, which has a dark and a light variant.
@MainActor
enum StyleSheet {
    private static let text = """
        .message-bar { padding: 6px 12px; }
        .warning-bar { background: @warning_bg_color; color: @warning_fg_color; }
        .error-bar { background: @error_bg_color; color: @error_fg_color; }
        """

    /// Adds the styles to those of the display.
    static func load() {
        let provider = gtk_css_provider_new()
        gtk_css_provider_load_from_data(provider, text, -1)
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(), OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        g_object_unref(UnsafeMutableRawPointer(provider))
    }
}
