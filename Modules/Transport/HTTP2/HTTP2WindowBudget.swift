internal import Synchronization

/// How many bytes the windows of several responses may hold together, beyond what each has from the start.
///
/// A connection has one, and a transport has one for all its connections. Shares are taken on event loops, and given back
/// wherever a body's last bytes are read or dropped.
final class HTTP2WindowBudget: Sendable {
    /// How many connections' worth a transport has in all.
    static let connectionsOfATransport = 4

    private let limit: Int
    private let parent: HTTP2WindowBudget?
    private let used = Atomic(0)

    init(limit: Int, parent: HTTP2WindowBudget? = nil) {
        self.limit = limit
        self.parent = parent
    }

    /// The budget of a transport's connections together.
    convenience init(ofTransport options: HTTP2Options) {
        self.init(limit: options.connectionWindowSize * Self.connectionsOfATransport)
    }

    var free: Int { max(0, min(limit - used.load(ordering: .relaxed), parent?.free ?? .max)) }

    /// Takes so many bytes; false when there are fewer.
    fileprivate func take(_ count: Int) -> Bool {
        let taken = used.add(count, ordering: .relaxed).newValue
        if taken <= limit, parent?.take(count) ?? true { return true }
        used.subtract(count, ordering: .relaxed)
        return false
    }

    fileprivate func giveBack(_ count: Int) {
        used.subtract(count, ordering: .relaxed)
        parent?.giveBack(count)
    }
}

/// What one response holds of a budget, until the last reference to it is gone: its stream's, and that of the channel in
/// which its bytes wait for their reader.
final class HTTP2WindowShare: Sendable {
    private let budget: HTTP2WindowBudget
    private let amount = Atomic(0)

    init(of budget: HTTP2WindowBudget) {
        self.budget = budget
    }

    deinit {
        budget.giveBack(amount.load(ordering: .relaxed))
    }

    /// Makes the share half of what it and no other has, up to a limit; called on one event loop only. Shares that do this
    /// again and again come to be equal.
    func resize(upTo most: Int) -> Int {
        let now = amount.load(ordering: .relaxed)
        let wanted = min(most, (now + budget.free) / 2)
        if wanted <= now {
            budget.giveBack(now - wanted)
        } else if !budget.take(wanted - now) {
            return now
        }
        amount.store(wanted, ordering: .relaxed)
        return wanted
    }
}
