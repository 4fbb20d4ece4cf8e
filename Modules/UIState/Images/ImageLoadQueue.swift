internal import LinnetSession

/// The order in which ``ImageDownloader`` serves requests for images.
public enum ImageDownloadPrioritization: Sendable, Hashable {
    /// The oldest request is next.
    case firstInFirstOut
    /// The newest request is next, for example for a list that is scrolled fast.
    case lastInFirstOut
}

/// Decides which images are downloaded and decoded next, and for which tickets: a pure state machine whose events
/// return the actions to perform.
///
/// A load takes one source from its download to its decoded image. Tickets with an equal source share a load. A load
/// occupies a slot from the start of its download until its decoding begins, so that bodies do not pile up when
/// decoding is slower; a cancelled download occupies it until its end.
struct ImageLoadQueue<Source: Hashable & Sendable>: Sendable {
    typealias LoadID = UInt64
    typealias TicketID = UInt64

    enum Action: Equatable, Sendable {
        case fetch(LoadID)
        case decode(LoadID)
        /// The download has no more tickets. ``downloadEnded(_:)`` reports its end.
        case stop(LoadID)
        /// The load has ended, and its state must be released.
        case forget(LoadID)
        case setPriority(LoadID, RequestPriority)
    }

    private enum Phase {
        case waiting(Place)
        case fetching
        case fetched
        case decoding
        case decoded
        case stopping
    }

    private struct Ticket {
        let id: TicketID
        var priority: RequestPriority
    }

    private struct Load {
        let source: Source
        var phase: Phase
        var tickets: [Ticket]

        var priority: RequestPriority { tickets.map(\.priority).max() ?? .normal }
    }

    private let prioritization: ImageDownloadPrioritization
    private let maximumActiveDownloads: Int
    private let maximumActiveDecodings: Int

    private var loads: [LoadID: Load] = [:]
    private var loadsBySource: [Source: LoadID] = [:]
    private var loadsByTicket: [TicketID: LoadID] = [:]
    /// The loads that wait for a slot; the next one is last.
    private var waiting: [Place] = []
    /// The loads that wait for decoding, in the order of their arrival.
    private var fetched: [LoadID] = []
    /// The loads that occupy a slot. A load with an image from the cache never does.
    private var slots: Set<LoadID> = []
    private(set) var activeDecodings = 0
    private var lastLoad: LoadID = 0
    private var lastTurn: Int64 = 0

    init(
        prioritization: ImageDownloadPrioritization = .firstInFirstOut, maximumActiveDownloads: Int = 4,
        maximumActiveDecodings: Int = 1
    ) {
        self.prioritization = prioritization
        self.maximumActiveDownloads = max(1, maximumActiveDownloads)
        self.maximumActiveDecodings = max(1, maximumActiveDecodings)
    }

    /// The number of downloads that run, wait for decoding, or are being stopped.
    var activeDownloads: Int { slots.count }
    var waitingDownloads: Int { waiting.count }
    var isEmpty: Bool { loads.isEmpty && loadsByTicket.isEmpty }

    // MARK: Tickets

    /// Adds a ticket to the load of its source, which is created if there is none.
    ///
    /// - Parameter isFetched: Whether the image exists already, and only variants must be made.
    /// - Returns: The load, whether it is new, and the actions.
    mutating func add(
        _ ticket: TicketID, for source: Source, priority: RequestPriority = .normal, isFetched: Bool = false
    ) -> (load: LoadID, isNew: Bool, actions: [Action]) {
        let ticketEntry = Ticket(id: ticket, priority: priority)
        if let id = loadsBySource[source] {
            let former = self.priority(of: id)
            loads[id]?.tickets.append(ticketEntry)
            loadsByTicket[ticket] = id
            return (id, false, self.priority(of: id) == former ? [] : prioritize(id))
        }
        lastLoad += 1
        lastTurn += 1
        let id = lastLoad
        var phase = Phase.fetched
        if isFetched {
            fetched.append(id)
        } else {
            let turn = prioritization == .lastInFirstOut ? lastTurn : -lastTurn
            let place = Place(priority: priority, turn: turn, load: id)
            phase = .waiting(place)
            waiting.insert(place)
        }
        loads[id] = Load(source: source, phase: phase, tickets: [ticketEntry])
        loadsBySource[source] = id
        loadsByTicket[ticket] = id
        return (id, true, [])
    }

    /// Removes a ticket. A load without tickets is stopped, unless it is being decoded.
    ///
    /// - Returns: The actions; nil if the ticket was not waiting.
    mutating func cancel(_ ticket: TicketID) -> [Action]? {
        guard let id = loadsByTicket.removeValue(forKey: ticket), var load = loads[id] else { return nil }
        load.tickets.removeAll { $0.id == ticket }
        loads[id] = load
        guard load.tickets.isEmpty else { return prioritize(id) }
        switch load.phase {
        case .waiting(let place):
            waiting.remove(place)
            return forget(id)
        case .fetched:
            fetched.removeAll { $0 == id }
            return forget(id)
        case .fetching:
            loads[id]?.phase = .stopping
            loadsBySource[load.source] = nil
            return [.stop(id)]
        case .decoding, .decoded, .stopping:
            return []
        }
    }

    mutating func setPriority(_ priority: RequestPriority, of ticket: TicketID) -> [Action] {
        guard let id = loadsByTicket[ticket],
            let index = loads[id]?.tickets.firstIndex(where: { $0.id == ticket })
        else { return [] }
        loads[id]?.tickets[index].priority = priority
        return prioritize(id)
    }

    /// The priority of a load: the highest of its tickets.
    func priority(of load: LoadID) -> RequestPriority { loads[load]?.priority ?? .normal }

    func tickets(of load: LoadID) -> [TicketID] { loads[load]?.tickets.map(\.id) ?? [] }

    private mutating func prioritize(_ id: LoadID) -> [Action] {
        guard let load = loads[id] else { return [] }
        switch load.phase {
        case .waiting(let place):
            guard place.priority != load.priority else { return [] }
            waiting.remove(place)
            let moved = Place(priority: load.priority, turn: place.turn, load: id)
            waiting.insert(moved)
            loads[id]?.phase = .waiting(moved)
            return []
        case .fetching: return [.setPriority(id, load.priority)]
        case .fetched, .decoding, .decoded, .stopping: return []
        }
    }

    // MARK: Loads

    /// Starts as many downloads and decodings as the limits allow. Called after each other event.
    mutating func startNext() -> [Action] {
        var actions: [Action] = []
        while activeDecodings < maximumActiveDecodings, !fetched.isEmpty {
            let id = fetched.removeFirst()
            loads[id]?.phase = .decoding
            slots.remove(id)
            activeDecodings += 1
            actions.append(.decode(id))
        }
        while slots.count < maximumActiveDownloads, let place = waiting.popLast() {
            loads[place.load]?.phase = .fetching
            slots.insert(place.load)
            actions.append(.fetch(place.load))
        }
        return actions
    }

    /// Receives the body of a load. A load without tickets ends.
    mutating func downloaded(_ id: LoadID) -> [Action] {
        guard let load = loads[id], case .fetching = load.phase else { return downloadEnded(id).actions }
        loads[id]?.phase = .fetched
        fetched.append(id)
        return []
    }

    /// Ends a download without a body: it failed, or was stopped.
    ///
    /// - Returns: The tickets that have failed, in the order of their addition.
    mutating func downloadEnded(_ id: LoadID) -> (tickets: [TicketID], actions: [Action]) {
        guard let load = loads[id] else { return ([], []) }
        switch load.phase {
        case .fetching, .stopping:
            let tickets = takeTickets(of: id)
            return (tickets, forget(id))
        case .waiting, .fetched, .decoding, .decoded: return ([], [])
        }
    }

    /// Ends the decoding of a load, and returns the tickets to answer. Call it until there are none, which ends the
    /// load.
    ///
    /// The tickets of a call are answered after the next one, from which on other tickets get a new load.
    mutating func decoded(_ id: LoadID) -> (tickets: [TicketID], actions: [Action]) {
        guard let load = loads[id] else { return ([], []) }
        switch load.phase {
        case .decoding: loads[id]?.phase = .decoded
        case .decoded: if loadsBySource[load.source] == id { loadsBySource[load.source] = nil }
        case .waiting, .fetching, .fetched, .stopping: return ([], [])
        }
        let tickets = takeTickets(of: id)
        guard tickets.isEmpty else { return (tickets, []) }
        activeDecodings -= 1
        return ([], forget(id))
    }

    /// Reserves one of the decodings for a preview; returns false if all are in use.
    mutating func beginPreview() -> Bool {
        guard activeDecodings < maximumActiveDecodings else { return false }
        activeDecodings += 1
        return true
    }

    mutating func endPreview() { activeDecodings -= 1 }

    private mutating func takeTickets(of id: LoadID) -> [TicketID] {
        let tickets = tickets(of: id)
        loads[id]?.tickets = []
        for ticket in tickets { loadsByTicket[ticket] = nil }
        return tickets
    }

    private mutating func forget(_ id: LoadID) -> [Action] {
        guard let load = loads.removeValue(forKey: id) else { return [] }
        if loadsBySource[load.source] == id { loadsBySource[load.source] = nil }
        slots.remove(id)
        return [.forget(id)]
    }

    /// The place of a load in the queue; a greater one is served first.
    fileprivate struct Place: Comparable {
        let priority: RequestPriority
        let turn: Int64
        let load: LoadID

        static func < (first: Place, second: Place) -> Bool {
            first.priority == second.priority ? first.turn < second.turn : first.priority < second.priority
        }
    }
}

extension Array where Element: Comparable {
    /// The index of the first element that is not less than another, in a sorted array.
    private func lowerBound(of element: Element) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Inserts an element into a sorted array.
    fileprivate mutating func insert(_ element: Element) {
        insert(element, at: lowerBound(of: element))
    }

    /// Removes an element from a sorted array.
    fileprivate mutating func remove(_ element: Element) {
        let index = lowerBound(of: element)
        if index < endIndex, self[index] == element { remove(at: index) }
    }
}
