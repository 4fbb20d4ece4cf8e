/// The current status and who wants to hear of the next: a pure state machine.
struct StatusStateMachine<Subscriber> {
    private(set) var status: ReachabilityStatus
    private(set) var isFinished = false
    private var subscribers: [UInt64: Subscriber] = [:]
    private var nextID: UInt64 = 0

    init(status: ReachabilityStatus) { self.status = status }

    /// What a new subscriber starts with; no id when nothing will follow.
    mutating func subscribe(_ subscriber: Subscriber) -> (current: ReachabilityStatus, id: UInt64?) {
        guard !isFinished else { return (status, nil) }
        nextID += 1
        subscribers[nextID] = subscriber
        return (status, nextID)
    }

    mutating func unsubscribe(_ id: UInt64) { subscribers[id] = nil }

    /// The subscribers to tell, which are none if the status is what it was.
    mutating func publish(_ status: ReachabilityStatus) -> [Subscriber] {
        guard !isFinished, status != self.status else { return [] }
        self.status = status
        return Array(subscribers.values)
    }

    /// The subscribers to tell that nothing follows; each is told once.
    mutating func finish() -> [Subscriber] {
        isFinished = true
        defer { subscribers = [:] }
        return Array(subscribers.values)
    }
}
