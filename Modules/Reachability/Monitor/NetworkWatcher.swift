internal import Glibc

/// The work of the monitoring thread: waits for a burst of notifications to end, reads the state, publishes the status.
///
/// It calls no user code, so waiting for it to end takes no longer than a call to the kernel.
struct NetworkWatcher: Sendable {
    private let notifications: NetlinkSocket
    private var reader: NetworkStateReader
    private var state: NetworkState
    private var debouncer: ChangeDebouncer
    private var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferSize)

    /// Opens the sockets and reads the state.
    ///
    /// It subscribes before it reads, so that no change is missed in between.
    init(debounce: Duration) throws(ReachabilityError) {
        notifications = try NetlinkSocket(groups: NetlinkGroup.all)
        reader = NetworkStateReader(try NetlinkSocket())
        state = try reader.read()
        debouncer = ChangeDebouncer(quietTime: debounce)
    }

    /// The status as of the last read.
    var status: ReachabilityStatus {
        state.status { InterfaceClassifier.kind(of: $0, facts: .read(for: $0)) }
    }

    /// Publishes changes of the status until the signal is sent.
    mutating func run(publishingTo hub: StatusHub, until signal: StopSignal) {
        while true {
            var descriptors = [
                pollfd(fd: notifications.descriptor.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let timeout = debouncer.timeout(at: .now)
            let count = poll(&descriptors, nfds_t(descriptors.count), timeout)
            if descriptors[1].revents != 0 { return }
            if count > 0, descriptors[0].revents != 0 { receiveNotifications() }
            if debouncer.takeDeadline(at: .now) { refresh(hub) }
        }
    }

    private mutating func receiveNotifications() {
        // Bounded, so that a flood of notifications cannot delay the deadline and the signal.
        for _ in 0..<64 {
            guard receiveNotification() else { return }
        }
    }

    /// Receives one notification, and returns whether more may be pending.
    private mutating func receiveNotification() -> Bool {
        do {
            switch try notifications.receive(into: &buffer, waits: false) {
            case .datagram(let count): notice(NetlinkDatagram(buffer[..<count]))
            case .overrun: debouncer.noticeChange(at: .now)
            case .foreign: break
            case .nothing: return false
            }
            return true
        } catch {
            debouncer.noticeChange(at: .now)
            return false
        }
    }

    private mutating func notice(_ datagram: NetlinkDatagram) {
        var isChange = datagram.isMalformed
        for message in datagram.messages where state.notice(message.content) { isChange = true }
        if isChange { debouncer.noticeChange(at: .now) }
    }

    private mutating func refresh(_ hub: StatusHub) {
        do {
            state = try reader.read()
            hub.publish(status)
        } catch {
            // Keeps the last status until the kernel answers again.
            debouncer.retry(at: .now)
        }
    }
}
