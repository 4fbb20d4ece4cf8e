import CGTK
import Foundation  // alarm, exit, read, FileHandle
import Linnet
import LinnetImageSerialization
import LinnetTesting
import LinnetUIState

/// A window of GTK with a grid of pictures, a spinner and a progress bar, bound to the states of LinnetUIState.
///
/// The pictures come from a server within the program. With `--self-test`, the program ends once the states have
/// arrived in the widgets, and is ended by a signal if they do not within a minute.
@main
@MainActor
struct GTKExample {
    private static let isSelfTest = CommandLine.arguments.contains("--self-test")
    private let pictures = (0..<12).map { _ in OpaquePointer(gtk_picture_new()) }
    private let spinner = OpaquePointer(gtk_spinner_new())
    private let bar = OpaquePointer(gtk_progress_bar_new())

    static func main() {
        guard gtk_init_check() != 0 else { fail("GTK cannot open a display.") }
        if isSelfTest { alarm(60) }
        joinMainLoop()
        let example = GTKExample()
        example.openWindow()
        Task {
            do { try await example.run() } catch { fail("\(error)") }
        }
        while g_list_model_get_n_items(gtk_window_get_toplevels()) > 0 { g_main_context_iteration(nil, 1) }
    }

    /// Lets the main actor run within GLib's main loop, which occupies the main thread.
    ///
    /// The jobs of the main actor are in Dispatch's main queue. GLib waits for the queue's descriptor together with the
    /// display's, so nothing polls. A task of the main actor that iterates GLib's context would have to, or would block
    /// the actor.
    private static func joinMainLoop() {
        let work: GUnixFDSourceFunc = { descriptor, _, _ in
            // Resets the descriptor before the jobs run, so that no later one is missed.
            var count: UInt64 = 0
            _ = read(descriptor, &count, MemoryLayout.size(ofValue: count))
            _dispatch_main_queue_callback_4CF(nil)
            return 1
        }
        g_unix_fd_add(_dispatch_get_main_queue_handle_4CF(), G_IO_IN, work, nil)
    }

    private func openWindow() {
        let (window, box, grid) = (gtk_window_new(), gtk_box_new(GTK_ORIENTATION_VERTICAL, 8), gtk_grid_new())
        for (number, picture) in pictures.enumerated() {
            gtk_widget_set_size_request(cast(picture), 128, 96)
            gtk_grid_attach(cast(grid), cast(picture), Int32(number % 4), Int32(number / 4), 1, 1)
        }
        for child in [grid, cast(bar), cast(spinner)] { gtk_box_append(cast(box), child) }
        gtk_window_set_child(cast(window), box)
        gtk_window_present(cast(window))
    }

    private func run() async throws {
        let server = try await Self.startServer()
        let session = try HTTPSession(baseURL: server.url)
        let images = ImageDownloader(session: session, serializer: .image)
        let states = pictures.map { picture in
            let state = ImageState(images)
            draw(state.statuses) { status in
                guard let image = status.image, let texture = Self.texture(of: image) else { return }
                gtk_picture_set_paintable(picture, texture)
                g_object_unref(UnsafeMutableRawPointer(texture))
            }
            return state
        }
        for (number, state) in states.enumerated() {
            let url = server.url.appending(path: "pictures/\(number)")
            state.load(ImageRequest(url, processors: [.scaled(toFit: 128), .rounded(radius: 16)]))
        }
        let (activity, progress) = (ActivityState(), TransferProgressState())
        defer { withExtendedLifetime((states, activity, progress)) {} }
        var spins: [Bool] = []
        draw(activity.states) { isAnimating in
            gtk_spinner_set_spinning(spinner, isAnimating ? 1 : 0)
            spins.append(gtk_spinner_get_spinning(spinner) != 0)
        }
        draw(progress.states) { gtk_progress_bar_set_fraction(bar, $0.fraction ?? 0) }
        let task = session.get("archive").task()
        activity.follow(task)
        progress.follow(task)
        _ = try await task.value

        // The states stay until the window is closed.
        guard Self.isSelfTest else { return try await Task.sleep(for: .seconds(1 << 30)) }
        while pictures.contains(where: { gtk_picture_get_paintable($0) == nil }) || !spins.contains(true)
            || spins.last == true || gtk_progress_bar_get_fraction(bar) < 1
        {
            try await Task.sleep(for: .milliseconds(50))
        }
        exit(0)
    }

    /// Draws each value of a state, until the state is released.
    private func draw<Value: Sendable>(_ values: AsyncStream<Value>, _ body: @escaping @MainActor (Value) -> Void) {
        Task { for await value in values { body(value) } }
    }

    private static func texture(of bitmap: Bitmap) -> OpaquePointer? {
        let bytes = bitmap.pixels.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
        defer { g_bytes_unref(bytes) }
        let (width, height) = (Int32(bitmap.width), Int32(bitmap.height))
        return gdk_memory_texture_new(width, height, GDK_MEMORY_R8G8B8A8, bytes, gsize(bitmap.width * 4))
    }

    private static func startServer() async throws -> MockServer {
        let routes = MockServer.Routes {
            $0.on("/pictures/*") { request in
                let number = Int(request.path.dropFirst("/pictures/".count)) ?? 0
                var pixels = [UInt8](repeating: 255, count: 400 * 300 * 4)
                for index in stride(from: 0, to: pixels.count, by: 4) {
                    pixels[index] = UInt8(index % 1600 / 7)
                    pixels[index + 1] = UInt8(index / 2400)
                    pixels[index + 2] = UInt8(number * 20)
                }
                let picture = try? Bitmap(width: 400, height: 300, pixels: pixels)?.pngData()
                return MockResponse(headerFields: [.contentType: "image/png"], body: .bytes(picture ?? Data()))
            }
            // Takes a second.
            let throttle = MockResponse.Throttle(bytes: 64 << 10, pause: .milliseconds(30))
            $0.on("/archive", MockResponse(body: .bytes(Data(count: 2 << 20)), throttle: throttle))
        }
        return try await MockServer.start(routes: routes)
    }

    /// Casts a widget to one of its types, like GTK's macros in C.
    private func cast<Widget>(_ widget: OpaquePointer?) -> UnsafeMutablePointer<Widget>? { .init(widget) }
    private func cast<Widget>(_ widget: UnsafeMutablePointer<GtkWidget>?) -> UnsafeMutablePointer<Widget>? {
        cast(OpaquePointer(widget))
    }

    private static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(1)
    }
}
