import CAdwaita
import FoundationEssentials

/// The face as a window: states become the contents of widgets, and keys and buttons become commands.
@MainActor
final class TimelineWindow {
    private let model: TimelineModel
    private let window: Widget = adw_window_new()
    private let title: Widget
    private let refresh: Widget
    private let spinner: Widget = gtk_spinner_new().named("Network activity")
    private let banner = MessageBar(icon: "network-offline-symbolic", style: "warning-bar")
    private let message = MessageBar(icon: "dialog-error-symbolic", style: "error-bar")
    private let stack: Widget = gtk_stack_new().expanded(vertically: true)
    private let list: PostList
    private let status: StatusPage
    private let transfer: TransferBar
    private let files: FileSource
    private let details = DetailsPane()
    private let flap: Widget = adw_flap_new().expanded(vertically: true)
    /// Shows the lines of code while it is active.
    private let code: Widget = gtk_toggle_button_new().named("Code")
    private let summary: Widget = Widgets.text().styled("dim-label", "caption").inset(12, vertical: 6)
    private let (closings, closing) = AsyncStream.makeStream(of: Void.self)

    init(_ model: TimelineModel) {
        self.model = model
        title = adw_window_title_new("Linnet", OneLine.text(model.state.server))
        let refreshing = { @MainActor in model.perform(.refresh, on: nil) }
        refresh = Widgets.button(icon: "view-refresh-symbolic", "Refresh", keys: "Ctrl+R", refreshing)
        list = PostList(model)
        status = StatusPage(refreshing)
        transfer = TransferBar(model)
        files = FileSource(window) { model.upload($0) }
        StyleSheet.load()
        for child in [list.widget, status.widget] { gtk_stack_add_child(stack.own, child) }
        let lines = [TimelineEffect.timeline, .pictures].map { Widgets.code($0).inset(12, vertical: 2) }
        for line in lines + details.code + [transfer.code] {
            g_object_bind_property(code, "active", line, "visible", G_BINDING_SYNC_CREATE)
        }
        adw_flap_set_content(
            flap.own, Widgets.column(message.widget, lines[0], lines[1], stack, transfer.widget, summary))
        adw_flap_set_flap(flap.own, details.widget)
        adw_flap_set_separator(flap.own, gtk_separator_new(GTK_ORIENTATION_VERTICAL))
        adw_flap_set_flap_position(flap.own, GTK_PACK_END)
        adw_window_set_content(window.cast(), Widgets.column(header(), banner.widget, flap))
        gtk_window_set_title(window.cast(), "Linnet")
        gtk_window_set_default_size(window.cast(), 900, 720)
        gtk_widget_set_size_request(window, 320, 320)
        addKeys()
        // The widgets are needed until the drawing has ended.
        Handler(endsSignal: true) { [closing] in closing.finish() }.connect(to: window, "close-request")
    }

    private func header() -> Widget {
        let header: Widget = adw_header_bar_new()
        adw_header_bar_set_title_widget(header.own, title)
        for child in [refresh, spinner] { adw_header_bar_pack_start(header.own, child) }
        let upload = Widgets.button(icon: "document-send-symbolic", "Upload a File", keys: "Ctrl+O") { [files] in
            files.choose()
        }
        let toggle: Widget = gtk_toggle_button_new().named("Details")
        gtk_button_set_icon_name(toggle.cast(), "sidebar-show-right-symbolic")
        gtk_widget_set_tooltip_text(toggle, "Details (I, P or N)")
        gtk_button_set_icon_name(code.cast(), "applications-engineering-symbolic")
        gtk_widget_set_tooltip_text(code, "Code (?)")
        let flags = GBindingFlags(G_BINDING_BIDIRECTIONAL.rawValue | G_BINDING_SYNC_CREATE.rawValue)
        g_object_bind_property(flap, "reveal-flap", toggle, "active", flags)
        for child in [toggle, code, upload] { adw_header_bar_pack_end(header.own, child) }
        return header
    }

    /// Shows the window and loads the timeline, until the window is closed.
    func run() async {
        gtk_window_present(window.cast())
        let drawing = Task { [model] in for await state in model.states { show(state) } }
        // The ages of the posts.
        let clock = Task { [model] in
            while (try? await Task.sleep(for: .seconds(20))) != nil { list.show(model.state, now: Date()) }
        }
        model.perform(.refresh, on: nil)
        for await _ in closings {}
        drawing.cancel()
        clock.cancel()
        await drawing.value
        await clock.value
        gtk_window_destroy(window.cast())
    }

    /// Closes the window.
    func close() { gtk_window_close(window.cast()) }

    /// The keys of the terminal, and the desktop's.
    private func addKeys() {
        let controller = gtk_shortcut_controller_new()
        for command in TimelineCommand.allCases {
            let keys = command == .refresh ? "r|<Control>r|F5" : command.key
            Handler { [model, list] in model.perform(command, on: list.selected) }.connect(to: controller, keys: keys)
        }
        let panels = TimelinePanel.allCases.map(\.key) + ["F9"]
        Handler { [flap] in
            adw_flap_set_reveal_flap(flap.own, adw_flap_get_reveal_flap(flap.own) == 0 ? 1 : 0)
        }
        .connect(to: controller, keys: panels.joined(separator: "|"))
        Handler { [code] in
            gtk_toggle_button_set_active(code.cast(), gtk_toggle_button_get_active(code.cast()) == 0 ? 1 : 0)
        }
        .connect(to: controller, keys: "question")
        Handler { [files] in files.choose() }.connect(to: controller, keys: "<Control>o")
        Handler { [weak self] in self?.close() }.connect(to: controller, keys: "<Control>q|<Control>w")
        gtk_widget_add_controller(window, controller)
    }

    private func show(_ state: TimelineState) {
        refresh.isSensitive = !state.isRefreshing
        gtk_spinner_set_spinning(spinner.own, state.isIndicatorVisible ? 1 : 0)
        banner.show(state.banner)
        message.show(state.posts.isEmpty ? nil : state.message, isError: state.isError)
        status.show(state)
        list.show(state, now: Date())
        transfer.show(state.transfer)
        details.show(state)
        gtk_stack_set_visible_child(stack.own, state.posts.isEmpty ? status.widget : list.widget)
        gtk_label_set_text(summary.own, OneLine.text(state.summary))
    }
}
