internal import LinnetMessages

/// The states of at most 1,000 origins. Hosts in the URLs of others cannot fill the memory.
struct OriginTable<Machine: OriginMachine>: Sendable {
    static var limit: Int { 1000 }

    private var machines: [Origin: Machine] = [:]

    var count: Int { machines.count }

    subscript(origin: Origin) -> Machine? { machines[origin] }

    /// Changes the state of an origin, which is made if it is not known.
    mutating func change<Result>(
        _ origin: Origin, at now: Duration, make: () -> Machine, _ body: (inout Machine) -> Result
    ) -> Result {
        if machines[origin] == nil { makeRoom(at: now) }
        return body(&machines[origin, default: make()])
    }

    /// Forgets the origins of which nothing is known first. Those in use are never forgotten, so that requests alone
    /// can exceed the limit.
    private mutating func makeRoom(at now: Duration) {
        guard machines.count >= Self.limit else { return }
        machines = machines.filter { !$0.value.isIdle(at: now) }
        guard machines.count >= Self.limit else { return }
        if let victim = machines.min(by: { $0.value.importance < $1.value.importance }),
            victim.value.importance < .inUse
        {
            machines[victim.key] = nil
        }
    }
}

/// The state of one origin.
protocol OriginMachine: Sendable {
    /// Whether nothing is known that a new machine would not know.
    func isIdle(at now: Duration) -> Bool
    /// The machines of lower importance are forgotten first.
    var importance: OriginImportance { get }
}

enum OriginImportance: Comparable {
    case known, notable, inUse
}
