/// Reads the whole network state from the kernel.
struct NetworkStateReader: Sendable {
    private let socket: NetlinkSocket
    private var sequence: UInt32 = 0
    private var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferSize)

    init(_ socket: NetlinkSocket) { self.socket = socket }

    /// Lists links, addresses and routes, and repeats this while the kernel reports that they changed meanwhile.
    ///
    /// When the state keeps changing, the last listing is returned: the change also caused a notification, which leads to
    /// another read.
    mutating func read() throws(ReachabilityError) -> NetworkState {
        for _ in 1..<Self.attempts {
            let (state, isConsistent) = try readOnce()
            if isConsistent { return state }
        }
        return try readOnce().state
    }

    private mutating func readOnce() throws(ReachabilityError) -> (state: NetworkState, isConsistent: Bool) {
        var state = NetworkState()
        var isConsistent = true
        for request in NetlinkRequest.all {
            switch try list(request, into: &state) {
            case .complete: break
            case .interrupted: isConsistent = false
            case .refused(let code):
                throw ReachabilityError(
                    .queryFailed, "The kernel refused to list \(request.subject)", errorNumber: code)
            case .malformed:
                throw ReachabilityError(.malformedMessage, "The kernel's list of \(request.subject) is malformed")
            }
        }
        return (state, isConsistent)
    }

    private mutating func list(
        _ request: NetlinkRequest, into state: inout NetworkState
    ) throws(ReachabilityError) -> NetlinkDump.Outcome {
        sequence &+= 1
        var dump = NetlinkDump(sequence: sequence)
        try socket.requestDump(request, sequence: sequence)
        while true {
            switch try socket.receive(into: &buffer, waits: true) {
            case .datagram(let count):
                if let outcome = dump.receive(NetlinkDatagram(buffer[..<count]), into: &state) { return outcome }
            case .foreign: break
            case .nothing:
                throw ReachabilityError(.timeout, "The kernel did not list \(request.subject) within 5 seconds")
            case .overrun:
                throw ReachabilityError(
                    .queryFailed, "The kernel's list of \(request.subject) exceeds the receive buffer")
            }
        }
    }

    private static let attempts = 8
}
