import CAdwaita

/// A function that GTK calls, which lives as long as the object that it was given to.
@MainActor
final class Handler {
    private let endsSignal: Bool
    private let body: @MainActor (UInt) -> Void

    /// Creates a handler. One that ends its signal takes the place of what GTK would do.
    convenience init(endsSignal: Bool = false, _ body: @escaping @MainActor () -> Void) {
        self.init(endsSignal: endsSignal, argument: { _ in body() })
    }

    /// Creates a handler of signals with an argument: the bits of a number or of a pointer.
    init(endsSignal: Bool = false, argument body: @escaping @MainActor (UInt) -> Void) {
        self.endsSignal = endsSignal
        self.body = body
    }

    /// Calls the function on each signal of this name.
    func connect(to object: UnsafeMutableRawPointer, _ signal: String) {
        // With swapped arguments, the first one is the data, whatever else the signal has.
        let receive: @convention(c) (UnsafeMutableRawPointer?, UInt) -> gboolean = { Handler.call($0, $1) ? 1 : 0 }
        let release: GClosureNotify = { data, _ in Handler.release(data) }
        g_signal_connect_data(
            object, signal, unsafeBitCast(receive, to: GCallback.self), Unmanaged.passRetained(self).toOpaque(),
            release,
            G_CONNECT_SWAPPED)
    }

    /// Calls the function when keys are pressed, such as `r|<Control>r`, anywhere in a window.
    func connect(to controller: OpaquePointer?, keys: String) {
        let receive: GtkShortcutFunc = { _, _, data in
            _ = Handler.call(data, 0)
            return 1
        }
        let data = Unmanaged.passRetained(self).toOpaque()
        let action = gtk_callback_action_new(receive, data) { Handler.release($0) }
        gtk_shortcut_controller_add_shortcut(
            controller, gtk_shortcut_new(gtk_shortcut_trigger_parse_string(keys), action))
    }

    private nonisolated static func call(_ data: UnsafeMutableRawPointer?, _ argument: UInt) -> Bool {
        guard let handler = data.map({ Unmanaged<Handler>.fromOpaque($0).takeUnretainedValue() }) else { return false }
        return MainActor.assumeIsolated {
            handler.body(argument)
            return handler.endsSignal
        }
    }

    private nonisolated static func release(_ data: UnsafeMutableRawPointer?) {
        if let data { Unmanaged<Handler>.fromOpaque(data).release() }
    }
}
