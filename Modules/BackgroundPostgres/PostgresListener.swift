internal import LinnetBackground
internal import LinnetTransport
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Listens to the notifications of a store, on a connection and a thread of its own.
///
/// The signal is also given at intervals, because notifications are lost with a connection, and a connection can be
/// lost without a sign.
final class PostgresListener: Sendable {
    private let connectionString: String
    private let configuration: PostgresTransferStore.Configuration
    private let channel: String
    private let signal: ChangeSignal
    /// The ends of a pipe, by which the thread is told to end.
    private let reader: Int32
    private let writer: Int32

    private init?(
        _ connectionString: String, _ configuration: PostgresTransferStore.Configuration, channel: String,
        _ signal: ChangeSignal
    ) {
        self.connectionString = connectionString
        self.configuration = configuration
        self.channel = channel
        self.signal = signal
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (reader, writer) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    /// The function that ends the listener closes the writing end; the reading end is the thread's.
    deinit { close(reader) }

    /// Starts a listener; returns a function that ends it, or nil if the system has no thread for it.
    static func start(
        _ connectionString: String, _ configuration: PostgresTransferStore.Configuration, channel: String,
        _ signal: ChangeSignal
    ) -> (@Sendable () -> Void)? {
        guard let listener = PostgresListener(connectionString, configuration, channel: channel, signal) else {
            return nil
        }
        let writer = listener.writer
        guard DetachedThread.start({ listener.run() }) else {
            close(writer)
            return nil
        }
        return { _ = close(writer) }
    }

    private func run() {
        while !isStopped(after: .zero) {
            do throws(PostgresError) {
                try listen()
            } catch {
                // The interval is the wait before the next connection.
                signal.tell()
                if isStopped(after: configuration.pollInterval) { return }
            }
        }
    }

    private func listen() throws(PostgresError) {
        let connection = try PostgresConnection(connectionString, timeout: configuration.connectTimeout)
        _ = try connection.query("LISTEN \(channel)", timeout: configuration.connectTimeout)
        // Earlier changes were not told.
        signal.tell()
        while !isStopped(after: .zero) {
            if try connection.awaitNotification(for: configuration.pollInterval, orReading: reader) {
                signal.tell()
            } else if !isStopped(after: .zero) {
                _ = try connection.query("SELECT 1", timeout: configuration.connectTimeout)
                signal.tell()
            }
        }
    }

    private func isStopped(after wait: Duration) -> Bool {
        var polled = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, Int32(min(wait / .milliseconds(1), 1_000_000_000))) > 0
    }
}
