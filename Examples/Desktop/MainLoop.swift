import CAdwaita

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// GLib's main loop, which occupies the main thread, and in which the main actor runs.
@MainActor
enum MainLoop {
    /// Runs a function of the main actor, and the loop until it has returned.
    static func run(_ body: @escaping @MainActor () async throws -> Void) throws {
        serveMainQueue()
        let end = End()
        Task {
            do {
                try await body()
                end.result = .success(())
            } catch {
                end.result = .failure(error)
            }
        }
        while end.result == nil { g_main_context_iteration(nil, 1) }
        try end.result?.get()
    }

    private final class End {
        var result: Result<Void, any Error>?
    }

    /// Lets GLib wait for the descriptor of Dispatch's main queue together with the display's, so that nothing polls.
    /// The jobs of the main actor are in that queue. A task of the main actor that iterates GLib's context would have
    /// to poll, or would block the actor.
    private static func serveMainQueue() {
        let work: GUnixFDSourceFunc = { descriptor, _, _ in
            // Resets the descriptor before the jobs run, so that no later one is missed.
            var count: UInt64 = 0
            _ = read(descriptor, &count, MemoryLayout.size(ofValue: count))
            _dispatch_main_queue_callback_4CF(nil)
            return 1
        }
        g_unix_fd_add(_dispatch_get_main_queue_handle_4CF(), G_IO_IN, work, nil)
    }
}
