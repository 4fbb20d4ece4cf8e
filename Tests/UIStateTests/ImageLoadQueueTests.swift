import LinnetSession
import Testing

@testable import LinnetUIState

@Suite("Image queue, as a state machine", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ImageLoadQueueTests {
    private typealias Queue = ImageLoadQueue<String>

    /// Adds tickets 1, 2, … for sources, and starts as much as the limits allow.
    private func queue(
        _ sources: [String], _ prioritization: ImageDownloadPrioritization = .firstInFirstOut, downloads: Int = 4,
        decodings: Int = 1
    ) -> (Queue, [Queue.Action]) {
        var queue = Queue(
            prioritization: prioritization, maximumActiveDownloads: downloads, maximumActiveDecodings: decodings)
        var actions: [Queue.Action] = []
        for (index, source) in sources.enumerated() {
            _ = queue.add(UInt64(index + 1), for: source)
            actions += queue.startNext()
        }
        return (queue, actions)
    }

    @Test func atMostFourAreActive() {
        var (queue, actions) = queue(["a", "b", "c", "d", "e", "f"])
        #expect(actions == [.fetch(1), .fetch(2), .fetch(3), .fetch(4)])
        #expect(queue.activeDownloads == 4 && queue.waitingDownloads == 2)
        #expect(queue.downloadEnded(2).tickets == [2])
        let next = queue.startNext()
        #expect(next == [.fetch(5)])
    }

    @Test func theNewestIsNextWithLastInFirstOut() {
        var (queue, actions) = queue(["a", "b", "c", "d"], .lastInFirstOut, downloads: 1)
        #expect(actions == [.fetch(1)])
        var order: [Queue.LoadID] = []
        for _ in 0..<3 {
            _ = queue.downloadEnded(order.last ?? 1)
            for case .fetch(let id) in queue.startNext() { order.append(id) }
        }
        #expect(order == [4, 3, 2])
    }

    @Test(arguments: [ImageDownloadPrioritization.firstInFirstOut, .lastInFirstOut])
    func aHigherPriorityIsNext(_ prioritization: ImageDownloadPrioritization) {
        var (queue, _) = queue(["a", "b", "c", "d", "e"], prioritization, downloads: 1)
        let changes = queue.setPriority(.high, of: 3)
        #expect(changes == [])
        _ = queue.setPriority(.low, of: 5)
        _ = queue.setPriority(.low, of: 2)
        _ = queue.downloadEnded(1)
        let next = queue.startNext()
        #expect(next == [.fetch(3)])
        _ = queue.downloadEnded(3)
        let nextButOne = queue.startNext()
        #expect(nextButOne == [.fetch(4)])
    }

    @Test func aSharedLoadHasTheHighestPriority() {
        var (queue, _) = queue(["a", "b", "c"], downloads: 1)
        _ = queue.add(9, for: "c", priority: .high)
        _ = queue.downloadEnded(1)
        let next = queue.startNext()
        #expect(next == [.fetch(3)], "The ticket that joined a waiting load moves it.")
        let joined = queue.add(10, for: "c", priority: 1)
        #expect(joined.actions == [.setPriority(3, 1)] && queue.priority(of: 3) == 1)
        let left = queue.cancel(10)
        #expect(left == [.setPriority(3, .high)])
        let lower = queue.add(11, for: "c", priority: .low)
        #expect(lower.actions == [])
    }

    @Test func equalSourcesShareALoad() {
        var (queue, actions) = queue(["a", "a", "b", "a"])
        #expect(actions == [.fetch(1), .fetch(2)])
        #expect(queue.tickets(of: 1) == [1, 2, 4])
        #expect(queue.downloaded(1) == [])
        let next = queue.startNext()
        #expect(next == [.decode(1)])
        let answered = queue.decoded(1)
        #expect(answered.tickets == [1, 2, 4])
        // A ticket that comes while the image is decoded also belongs to the load.
        _ = queue.add(5, for: "a")
        let late = queue.decoded(1)
        #expect(late.tickets == [5])
        let end = queue.decoded(1)
        #expect(end.tickets.isEmpty && end.actions == [.forget(1)])
        #expect(queue.activeDecodings == 0)
    }

    @Test func aTicketAfterTheAnswersHasALoadOfItsOwn() {
        var (queue, _) = queue(["a"])
        _ = queue.downloaded(1)
        _ = queue.startNext()
        _ = queue.decoded(1)
        _ = queue.add(2, for: "a")
        // The tickets of the first call are answered after this one.
        let late = queue.decoded(1)
        let own = queue.add(3, for: "a")
        #expect(late.tickets == [2] && own.isNew && own.load == 2)
        let end = queue.decoded(1)
        #expect(end.tickets.isEmpty && end.actions == [.forget(1)])
        let joined = queue.add(4, for: "a")
        #expect(joined.load == 2, "The end of the former load leaves the new one to join.")
        let next = queue.startNext()
        #expect(next == [.fetch(2)])
    }

    @Test func cancellingAWaitingTicketLeavesTheLimitAlone() {
        var (queue, _) = queue(["a", "b", "c"], downloads: 1)
        let cancelled = queue.cancel(2)
        #expect(cancelled == [.forget(2)])
        let nothing = queue.startNext()
        #expect(nothing == [])
        #expect(queue.activeDownloads == 1 && queue.waitingDownloads == 1)
        let again = queue.cancel(2)
        #expect(again == nil)
    }

    @Test func aStoppedDownloadKeepsItsSlotUntilItHasEnded() {
        var (queue, _) = queue(["a", "b"], downloads: 1)
        let cancelled = queue.cancel(1)
        #expect(cancelled == [.stop(1)])
        let nothing = queue.startNext()
        #expect(nothing == [])
        // An equal request is a new load.
        let again = queue.add(7, for: "a")
        #expect(again.isNew && again.load == 3)
        let end = queue.downloadEnded(1)
        #expect(end.tickets.isEmpty && end.actions == [.forget(1)])
        let next = queue.startNext()
        #expect(next == [.fetch(2)])
    }

    @Test(arguments: [false, true]) func theEndOfAStoppedLoadLeavesItsSuccessorToJoin(succeeds: Bool) {
        var (queue, _) = queue(["a"])
        _ = queue.cancel(1)
        let successor = queue.add(2, for: "a")
        _ = queue.startNext()
        let end = succeeds ? queue.downloaded(1) : queue.downloadEnded(1).actions
        #expect(end == [.forget(1)])
        let third = queue.add(3, for: "a")
        #expect(third.load == successor.load && !third.isNew)
        #expect(queue.tickets(of: successor.load) == [2, 3])
        _ = queue.downloaded(successor.load)
        let next = queue.startNext()
        #expect(next == [.decode(successor.load)])
        let decoded = queue.decoded(successor.load)
        #expect(decoded.tickets == [2, 3])
        // The successor's own end makes the next one a new load.
        _ = queue.decoded(successor.load)
        let last = queue.add(4, for: "a")
        #expect(last.isNew)
    }

    @Test func aStoppedDownloadThatSucceedsIsForgotten() {
        var (queue, _) = queue(["a"])
        _ = queue.cancel(1)
        let end = queue.downloaded(1)
        #expect(end == [.forget(1)])
        #expect(queue.isEmpty && queue.activeDownloads == 0)
    }

    @Test func decodingIsLimitedAndHoldsBackDownloads() {
        var (queue, _) = queue(["a", "b", "c", "d"], downloads: 2, decodings: 1)
        _ = queue.downloaded(1)
        let first = queue.startNext()
        #expect(first == [.decode(1), .fetch(3)])
        _ = queue.downloaded(2)
        _ = queue.downloaded(3)
        let none = queue.startNext()
        #expect(none == [], "Two bodies wait to be decoded, so no download starts.")
        _ = queue.decoded(1)
        _ = queue.decoded(1)
        let second = queue.startNext()
        #expect(second == [.decode(2), .fetch(4)])
    }

    @Test func cancellingTheLastTicketBeforeDecodingReleasesTheBody() {
        var (queue, _) = queue(["a", "b"], downloads: 2, decodings: 1)
        _ = queue.downloaded(1)
        _ = queue.startNext()
        _ = queue.downloaded(2)
        let cancelled = queue.cancel(2)
        #expect(cancelled == [.forget(2)])
        #expect(queue.activeDownloads == 0)
    }

    @Test func aVariantOfAKnownImageNeedsNoSlot() {
        var (queue, _) = queue(["a"], downloads: 1)
        _ = queue.add(2, for: "b", isFetched: true)
        let next = queue.startNext()
        #expect(next == [.decode(2)])
        #expect(queue.activeDownloads == 1)
    }

    @Test func previewsCountAsDecodings() {
        var (queue, _) = queue(["a"], decodings: 1)
        let begun = queue.beginPreview()
        let second = queue.beginPreview()
        #expect(begun && !second)
        _ = queue.downloaded(1)
        let none = queue.startNext()
        #expect(none == [])
        queue.endPreview()
        let next = queue.startNext()
        #expect(next == [.decode(1)])
    }

    /// Random histories keep the limits, answer each ticket exactly once, and end with an empty queue.
    @Test(arguments: 0..<40)
    func randomHistoriesKeepTheLimits(_ round: UInt64) {
        var random = SplitMix(seed: 0x1A6E + round)
        var queue = Queue(
            prioritization: Bool.random(using: &random) ? .firstInFirstOut : .lastInFirstOut,
            maximumActiveDownloads: 3, maximumActiveDecodings: 2)
        var (fetching, decoding): (Set<UInt64>, Set<UInt64>) = ([], [])
        var (open, last): (Set<UInt64>, UInt64) = ([], 0)

        func perform(_ actions: [Queue.Action]) {
            for action in actions {
                switch action {
                case .fetch(let id): #expect(fetching.insert(id).inserted)
                case .decode(let id): #expect(decoding.insert(id).inserted)
                case .stop(let id): #expect(fetching.contains(id))
                case .forget, .setPriority: break
                }
            }
            #expect(fetching.count <= 3 && decoding.count <= 2)
        }
        func answer(_ tickets: [UInt64]) {
            for ticket in tickets { #expect(open.remove(ticket) != nil, "seed \(0x1A6E + round)") }
        }
        func step(_ choice: Int) {
            switch choice {
            case 0..<4:
                last += 1
                open.insert(last)
                let source = String(Int.random(in: 0..<8, using: &random))
                _ = queue.add(last, for: source, priority: RequestPriority(Double.random(in: 0...1, using: &random)))
            case 4:
                guard let ticket = open.randomElement(using: &random) else { break }
                if let actions = queue.cancel(ticket) {
                    open.remove(ticket)
                    perform(actions)
                }
            case 5:
                guard let ticket = open.randomElement(using: &random) else { break }
                perform(queue.setPriority(.high, of: ticket))
            case 6, 7:
                guard let id = fetching.randomElement(using: &random) else { break }
                fetching.remove(id)
                if choice == 6 { return perform(queue.downloaded(id)) }
                let end = queue.downloadEnded(id)
                answer(end.tickets)
                perform(end.actions)
            default:
                guard let id = decoding.randomElement(using: &random) else { break }
                let end = queue.decoded(id)
                answer(end.tickets)
                if end.tickets.isEmpty { decoding.remove(id) }
                perform(end.actions)
            }
        }
        for _ in 0..<400 {
            step(Int.random(in: 0..<9, using: &random))
            perform(queue.startNext())
        }
        while !fetching.isEmpty || !decoding.isEmpty {
            step(Int.random(in: 6..<9, using: &random))
            perform(queue.startNext())
        }
        #expect(open.isEmpty && queue.isEmpty && queue.activeDownloads == 0, "seed \(0x1A6E + round)")
    }
}

/// Random numbers that a seed determines.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
