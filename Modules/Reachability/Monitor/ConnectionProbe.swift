internal import Glibc

/// Opens and closes a TCP connection. It blocks the thread.
enum ConnectionProbe {
    /// Returns whether one of the host's addresses accepts a connection within the timeout. Each address has an equal
    /// share of the remaining time, so that a silent one leaves time for the others.
    static func succeeds(host: String, port: UInt16, timeout: Duration) -> Bool {
        let deadline = ContinuousClock.now.advanced(by: min(max(timeout, .zero), .seconds(3600)))
        let addresses = SocketAddress.resolve(host, port)
        return addresses.indices.contains { index in
            let now = ContinuousClock.now
            let share = (deadline - now) / (addresses.count - index)
            return connects(to: addresses[index], before: now.advanced(by: share))
        }
    }

    private static func connects(to address: SocketAddress, before deadline: ContinuousClock.Instant) -> Bool {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = socket(address.family, type, 0)
        guard number >= 0 else { return false }
        let descriptor = OwnedDescriptor(owning: number)
        if address.withPointer({ connect(descriptor.number, $0, $1) }) == 0 { return true }
        guard errno == EINPROGRESS else { return false }
        var wait = pollfd(fd: descriptor.number, events: Int16(POLLOUT), revents: 0)
        while true {
            let count = poll(&wait, 1, PollTimeout.until(deadline, at: .now))
            if count > 0 { break }
            if count == 0 || errno != EINTR { return false }
        }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor.number, SOL_SOCKET, SO_ERROR, &code, &length) == 0 && code == 0
    }
}
