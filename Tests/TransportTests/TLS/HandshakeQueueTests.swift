import CommandSupport
import NIOCore
import Testing

@testable import LinnetTransport

@Suite("TLS handshakes in order", .timeLimit(.minutes(1)))
struct HandshakeQueueTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private static let patience = TimeAmount.seconds(1)

    /// A queue, the time, and the handshakes that have begun, in this order.
    private struct Machine {
        var queue: HandshakeQueue<Int>
        var now = HandshakeQueueTests.start
        var tickets: [Int: UInt64] = [:]
        var begun: [Int] = []

        init(places: Int) {
            queue = HandshakeQueue(HandshakeLimit(places: places, patience: HandshakeQueueTests.patience))
        }

        mutating func enter(_ handshakes: some Sequence<Int>) {
            for handshake in handshakes {
                let (ticket, begins) = queue.enter(handshake, now: now)
                tickets[handshake] = ticket
                if begins { begun.append(handshake) }
            }
        }

        mutating func leave(_ handshake: Int) {
            guard let ticket = tickets.removeValue(forKey: handshake) else { return }
            if let next = queue.leave(ticket, now: now) { begun.append(next) }
        }

        /// Passes time. A timer expires what is due meanwhile, as late as it is due.
        mutating func pass(_ time: TimeAmount) {
            let end = now + time
            while let next = queue.nextEnd, next <= end {
                now = max(now, next)
                begun += queue.expire(now: now)
            }
            now = end
        }
    }

    @Test func handshakesBeyondThePlacesWaitInOrder() {
        var machine = Machine(places: 2)
        machine.enter(1...5)
        #expect(machine.begun == [1, 2])
        machine.leave(2)
        #expect(machine.begun == [1, 2, 3])
        machine.leave(1)
        machine.leave(3)
        #expect(machine.begun == [1, 2, 3, 4, 5])
        #expect(machine.queue.nextEnd == nil)
    }

    @Test func aFreePlaceIsTakenAtOnce() {
        var machine = Machine(places: 2)
        for handshake in 0..<100 {
            machine.enter([handshake])
            machine.leave(handshake)
        }
        #expect(machine.begun == Array(0..<100))
    }

    @Test func aHandshakeThatEndsWhileItWaitsLeavesTheOthersInOrder() {
        var machine = Machine(places: 1)
        machine.enter(1...6)
        for withdrawn in [4, 2, 6] { machine.leave(withdrawn) }
        for running in [1, 3, 5] { machine.leave(running) }
        #expect(machine.begun == [1, 3, 5])
        machine.enter([7])
        #expect(machine.begun == [1, 3, 5, 7])
    }

    @Test func theEndOfAnUnknownHandshakeFreesNothing() {
        var machine = Machine(places: 1)
        machine.enter(1...3)
        expectEqual(machine.queue.leave(100, now: machine.now), nil)
        machine.leave(1)
        let ticket = machine.tickets[2]
        machine.leave(2)
        if let ticket { expectEqual(machine.queue.leave(ticket, now: machine.now), nil) }
        #expect(machine.begun == [1, 2, 3])
    }

    @Test func aSilentHandshakeGivesUpItsPlaceOnce() {
        var machine = Machine(places: 1)
        machine.enter([1])
        machine.pass(.milliseconds(500))
        machine.enter([2, 3])
        machine.pass(.milliseconds(499))
        #expect(machine.begun == [1])
        machine.pass(.milliseconds(1))
        #expect(machine.begun == [1, 2])
        // The first one has no place any more.
        machine.leave(1)
        #expect(machine.begun == [1, 2])
        machine.leave(2)
        #expect(machine.begun == [1, 2, 3])
    }

    /// No timer runs while no handshake waits.
    @Test func aPlaceIsGivenUpToTheNextArrival() {
        var machine = Machine(places: 2)
        machine.enter([1, 2])
        #expect(machine.queue.nextEnd == nil)
        machine.now = Self.start + Self.patience
        machine.enter([3, 4, 5])
        #expect(machine.begun == [1, 2, 3, 4])
    }

    @Test(arguments: [0, 1, 10, 500])
    func silentServersDelayAHandshakeByTwiceThePatienceWhateverTheirNumber(silent: Int) {
        var machine = Machine(places: 8)
        machine.enter(0..<silent)
        machine.enter([-1])
        machine.pass(Self.patience)
        machine.pass(Self.patience)
        #expect(machine.begun.contains(-1))
    }

    /// Servers that answer in time keep the limit, however many wait and for how long.
    @Test func theLimitHoldsWhileServersAnswer() {
        var machine = Machine(places: 4)
        machine.enter(0..<400)
        for round in 1...100 {
            machine.pass(.milliseconds(900))
            #expect(machine.begun.count == 4 * round)
            for handshake in machine.begun.suffix(4) { machine.leave(handshake) }
        }
        #expect(machine.begun == Array(0..<400))
    }

    /// Random events: handshakes begin in order of arrival, and one waits only while all places are taken.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func noHandshakeWaitsBesideAFreePlace(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var machine = Machine(places: 3)
        for handshake in 0..<200 {
            switch UInt8.random(in: 0..<4, using: &random) {
            case 0: machine.pass(.milliseconds(.random(in: 0..<600, using: &random)))
            case 1:
                if let ended = machine.tickets.keys.sorted().randomElement(using: &random) { machine.leave(ended) }
            default: machine.enter([handshake])
            }
            let running = Set(machine.begun).intersection(machine.tickets.keys)
            let waiting = Set(machine.tickets.keys).subtracting(running)
            #expect(machine.begun == machine.begun.sorted(), "seed \(seed)")
            #expect(waiting.isEmpty == (machine.queue.nextEnd == nil), "seed \(seed)")
            if !waiting.isEmpty { #expect(running.count >= 3, "seed \(seed)") }
        }
    }
}
