internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A session's ear in its directory: it hears changes of the journal, claims, and the end of the session that
/// transfers.
///
/// A thread waits in `poll`, and wakes up only for these.
final class Presence: Sendable {
    enum News: Sendable {
        case changed, claimed
        /// The session that transferred has ended, or has given its lock up. Told once for each ``awaitRunnersEnd()``.
        case runnerGone
    }

    /// The shortest time between two announcements of changes.
    private static let pause = Duration.milliseconds(200)

    private struct State {
        /// Whether an announcement was sent lately, and whether there were changes since.
        var isPausing = false
        var isPending = false
    }

    private let descriptors: PresenceDescriptors
    private let state = Mutex(State())

    /// Opens the session's socket, by which announcements arrive from now on. It blocks.
    init(_ folder: BackgroundFolder) throws(BackgroundError) { descriptors = try PresenceDescriptors(folder) }

    deinit { leave() }

    /// Begins to tell news, on a thread of its own. Call it once. The function must not refer to the object.
    func start(_ receive: @escaping @Sendable (News) -> Void) throws(BackgroundError) {
        let loop = PresenceLoop(descriptors: descriptors, receive: receive)
        guard DetachedThread.start({ loop.run() }) else {
            throw BackgroundError(.storageFailed, "The thread that watches the directory could not be started.")
        }
    }

    /// Removes the session's socket, sends a pending announcement, and ends the news.
    func leave() {
        if state.withLock({ $0.isPending }) { descriptors.socket.send(.changed) }
        descriptors.socket.removeName()
        shutdown(descriptors.session, Int32(SHUT_RDWR))
    }

    /// Asks for ``News/runnerGone`` when the session that transfers has ended.
    func awaitRunnersEnd() {
        var byte: UInt8 = 1
        _ = SystemCall.retrying { write(descriptors.session, &byte, 1) }
    }

    /// Asks the session that transfers to give its lock up.
    func claim() { descriptors.socket.send(.claimed) }

    /// Tells the other sessions that the journal has changed: at once, and then a few times a second at most.
    func announceChange() {
        let isFirst = state.withLock { state in
            if state.isPausing { state.isPending = true }
            defer { state.isPausing = true }
            return !state.isPausing
        }
        guard isFirst else { return }
        descriptors.socket.send(.changed)
        Task { await self.announceLater() }
    }

    private func announceLater() async {
        while true {
            try? await Task.sleep(for: Self.pause)
            let isPending = state.withLock { state in
                defer { state.isPending = false }
                state.isPausing = state.isPending
                return state.isPending
            }
            guard isPending else { return }
            descriptors.socket.send(.changed)
        }
    }
}

/// The descriptors that a session and its thread share; the last of them closes them.
private final class PresenceDescriptors: Sendable {
    let socket: AnnouncementSocket
    let gate: Int32
    /// The ends of a stream: the session writes commands to the first, and the thread reads the second.
    let session: Int32
    let thread: Int32

    init(_ folder: BackgroundFolder) throws(BackgroundError) {
        let gate = try Gate.openForReading(folder)
        let socket: AnnouncementSocket
        do {
            socket = try AnnouncementSocket(folder)
        } catch {
            close(gate)
            throw error
        }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            let code = errno
            socket.removeName()
            socket.close()
            close(gate)
            throw .failedCall(folder.path, "cannot be watched", code)
        }
        (self.socket, self.gate, session, thread) = (socket, gate, ends[0], ends[1])
    }

    deinit {
        for descriptor in [gate, session, thread] { close(descriptor) }
        socket.close()
    }
}

/// The work of the thread.
private struct PresenceLoop: Sendable {
    let descriptors: PresenceDescriptors
    let receive: @Sendable (Presence.News) -> Void

    /// The wait before the end of a session is told again: the kernel may release the lock of a killed process after
    /// its pipe.
    private static let patience: Int32 = 5

    func run() {
        // Whether the end of the runner is awaited, whether it was told before, and whether it is too early to look for
        // it again.
        var (isAwaiting, wasTold, isEarly) = (false, false, false)
        while true {
            var polled = [
                pollfd(fd: descriptors.thread, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptors.socket.descriptor, events: Int16(POLLIN), revents: 0),
                // A negative descriptor is ignored.
                pollfd(fd: isAwaiting && !isEarly ? descriptors.gate : -1, events: 0, revents: 0),
            ]
            let timeout = isAwaiting && isEarly ? Self.patience : -1
            guard poll(&polled, nfds_t(polled.count), timeout) >= 0 || errno == EINTR else { return }
            isEarly = false
            if polled[0].revents != 0 {
                var byte: UInt8 = 0
                guard SystemCall.retrying({ read(descriptors.thread, &byte, 1) }) == 1 else { return }
                isAwaiting = true
                // A session that tries the lock in vain would otherwise try it without a pause.
                isEarly = wasTold
            }
            if polled[1].revents != 0 { tellAnnouncements() }
            if polled[2].revents & Int16(POLLHUP) != 0 {
                (isAwaiting, wasTold) = (false, true)
                receive(.runnerGone)
            }
        }
    }

    private func tellAnnouncements() {
        let announcements = descriptors.socket.receive()
        if announcements.contains(.changed) { receive(.changed) }
        if announcements.contains(.claimed) { receive(.claimed) }
    }
}
