/// Reads the network, and receives notifications of its changes, through one netlink socket.
struct NetlinkSource: NetworkSource {
    private let socket: NetlinkSocket
    private var sequence: UInt32 = 0
    private var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferSize)
    /// Notifications that arrived while a response was awaited.
    private var backlog: [NetlinkMessage.Content] = []
    /// Whether notifications were lost.
    private var hasLost = false
    // Many monitors ask the same questions, so the answers are kept.
    private var answers: [RouteQuestion: RouteAnswer] = [:]
    private var facts: [Int32: InterfaceFacts] = [:]

    init(_ socket: NetlinkSocket) { self.socket = socket }

    var descriptor: Int32? { socket.descriptor.number }
    var interval: Duration? { nil }
    var hasPendingChanges: Bool { hasLost || !backlog.isEmpty }

    mutating func receiveChanges(into state: inout NetworkState) -> NetworkChange {
        // The number is limited, so that a flood of notifications cannot delay a deadline.
        for _ in 0..<64 {
            guard receiveNotification() else { break }
        }
        var change = hasLost ? NetworkChange.everything : .nothing
        for content in backlog { change = max(change, state.notice(content)) }
        hasLost = false
        backlog.removeAll(keepingCapacity: true)
        return change
    }

    /// Lists links, addresses and routes, and repeats this while the kernel reports changes during the list.
    ///
    /// When the state keeps changing, the last listing is returned: the change also caused a notification, which leads
    /// to another read.
    mutating func read() throws(ReachabilityError) -> NetworkState {
        for _ in 1..<Self.attempts {
            let (state, isConsistent) = try readOnce()
            if isConsistent { return state }
        }
        return try readOnce().state
    }

    mutating func answer(_ question: RouteQuestion) -> RouteAnswer {
        if let known = answers[question] { return known }
        let answer = lookUp(question)
        answers[question] = answer
        return answer
    }

    mutating func facts(of link: NetworkLink) -> InterfaceFacts {
        if let known = facts[link.index] { return known }
        let read = InterfaceFacts.read(for: link)
        facts[link.index] = read
        return read
    }

    mutating func forget() {
        answers.removeAll(keepingCapacity: true)
        facts.removeAll(keepingCapacity: true)
    }

    private static let attempts = 8
    private static let longestBacklog = 1024
}

extension NetlinkSource {
    private mutating func readOnce() throws(ReachabilityError) -> (state: NetworkState, isConsistent: Bool) {
        var state = NetworkState()
        var isConsistent = true
        for request in NetlinkRequest.all(isStrict: socket.isStrict) {
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
        var dump = NetlinkDump(sequence: sequence, port: socket.port)
        try socket.request(request, sequence: sequence)
        while true {
            switch try socket.receive(into: &buffer, waits: true) {
            case .datagram(let count):
                let datagram = NetlinkDatagram(buffer[..<count])
                let outcome = dump.receive(datagram, into: &state)
                store(datagram.messages)
                if let outcome { return outcome }
            case .foreign: break
            // The dump itself is complete: the kernel continues it when there is space.
            case .overrun: hasLost = true
            case .nothing:
                throw ReachabilityError(.timeout, "The kernel did not list \(request.subject) within 5 seconds")
            }
        }
    }

    /// Looks up a route.
    ///
    /// The kernel replies before `send` returns, and drops the reply when the receive queue is full. After a missing
    /// reply, the request is repeated when the queue is empty.
    private mutating func lookUp(_ question: RouteQuestion) -> RouteAnswer {
        for attempt in 1...Self.attempts {
            sequence &+= 1
            do {
                try socket.request(.lookUp(question), sequence: sequence)
                if let answer = try receiveReply(waits: attempt == Self.attempts) { return answer }
            } catch {
                return .unknown
            }
        }
        return .unknown
    }

    /// Receives the reply to the last look-up; nil when it was dropped.
    private mutating func receiveReply(waits: Bool) throws(ReachabilityError) -> RouteAnswer? {
        while true {
            switch try socket.receive(into: &buffer, waits: waits) {
            case .datagram(let count):
                let bytes = buffer[..<count]
                if let answer = RouteReply.answer(in: bytes, sequence: sequence, port: socket.port) { return answer }
                store(NetlinkDatagram(bytes))
            case .foreign: break
            case .overrun: hasLost = true
            case .nothing: return nil
            }
        }
    }

    /// Receives one notification, and returns whether more may be pending.
    private mutating func receiveNotification() -> Bool {
        do {
            switch try socket.receive(into: &buffer, waits: false) {
            case .datagram(let count): store(NetlinkDatagram(buffer[..<count]))
            case .overrun: hasLost = true
            case .foreign: break
            case .nothing: return false
            }
            return true
        } catch {
            hasLost = true
            return false
        }
    }

    private mutating func store(_ datagram: NetlinkDatagram) {
        if datagram.isMalformed { hasLost = true }
        store(datagram.messages)
    }

    /// Keeps the notifications among messages, which exclude the answers to this socket's requests.
    private mutating func store(_ messages: [NetlinkMessage]) {
        for message in messages where message.port != socket.port && message.content != .irrelevant {
            if backlog.count < Self.longestBacklog { backlog.append(message.content) } else { hasLost = true }
        }
    }
}
