internal import NIOCore

/// When to ask a silent server whether it is still there, and when to give it up. Pure: the time is a parameter.
struct HTTP2KeepAlive {
    enum Action: Equatable {
        case none
        case ping
        case giveUp
    }

    private let interval: TimeAmount?
    private let timeout: TimeAmount
    private var lastSign = NIODeadline.distantPast
    private var answerDue: NIODeadline?

    init(_ options: HTTP2Options) {
        interval = options.keepAlivePing.map { TimeAmount($0) }
        timeout = TimeAmount(options.pingTimeout)
    }

    /// Something came from the server: whatever it is, it lives.
    mutating func heard(_ now: NIODeadline) {
        lastSign = now
        answerDue = nil
    }

    /// A server that nobody has asked for anything owes no sign: its time begins now.
    mutating func firstStreamOpened(_ now: NIODeadline) {
        if answerDue == nil { lastSign = now }
    }

    /// Asks at once; false when it is asked already.
    mutating func probe(_ now: NIODeadline) -> Bool {
        guard answerDue == nil else { return false }
        answerDue = now + timeout
        return true
    }

    /// When to look again.
    func next(hasStreams: Bool) -> NIODeadline? {
        if let answerDue { return answerDue }
        guard hasStreams, let interval else { return nil }
        return lastSign + interval
    }

    mutating func check(_ now: NIODeadline, hasStreams: Bool) -> Action {
        if let answerDue { return answerDue <= now ? .giveUp : .none }
        guard let due = next(hasStreams: hasStreams), due <= now else { return .none }
        answerDue = now + timeout
        return .ping
    }
}
