import CAdwaita
import FoundationEssentials

/// Receives files of the user, which are dropped onto the window or chosen in a dialog.
@MainActor
final class FileSource {
    private let window: Widget
    private let receive: @MainActor (URL) -> Void
    private var dialog: OpaquePointer?

    init(_ window: Widget, _ receive: @escaping @MainActor (URL) -> Void) {
        self.window = window
        self.receive = receive
        let target = gtk_drop_target_new(gdk_file_list_get_type(), GDK_ACTION_COPY)
        let drop = Handler(endsSignal: true) { (argument: UInt) in
            guard let value = UnsafePointer<GValue>(bitPattern: argument) else { return }
            let files = gdk_file_list_get_files(OpaquePointer(g_value_get_boxed(value)))
            defer { g_slist_free(files) }
            if let file = Self.url(of: OpaquePointer(files?.pointee.data)) { receive(file) }
        }
        if let target { drop.connect(to: UnsafeMutableRawPointer(target), "drop") }
        gtk_widget_add_controller(window, target)
    }

    /// Shows a dialog for one file.
    func choose() {
        guard dialog == nil,
            let dialog = gtk_file_chooser_native_new(
                "Upload a File", window.cast(), GTK_FILE_CHOOSER_ACTION_OPEN, "Upload", "Cancel")
        else { return }
        self.dialog = dialog
        let end = Handler { [weak self] (response: UInt) in
            self?.end(isAccepted: Int32(truncatingIfNeeded: response) == GTK_RESPONSE_ACCEPT.rawValue)
        }
        end.connect(to: UnsafeMutableRawPointer(dialog), "response")
        gtk_native_dialog_show(UnsafeMutableRawPointer(dialog).assumingMemoryBound(to: GtkNativeDialog.self))
    }

    private func end(isAccepted: Bool) {
        guard let dialog else { return }
        self.dialog = nil
        let file = isAccepted ? gtk_file_chooser_get_file(dialog) : nil
        if let url = Self.url(of: file) { receive(url) }
        if let file { g_object_unref(UnsafeMutableRawPointer(file)) }
        // The dialog is emitting the signal.
        Task { g_object_unref(UnsafeMutableRawPointer(dialog)) }
    }

    /// The URL of a file of this machine.
    private static func url(of file: OpaquePointer?) -> URL? {
        guard let file, let path = g_file_get_path(file) else { return nil }
        defer { g_free(path) }
        return URL(filePath: String(cString: path))
    }
}
