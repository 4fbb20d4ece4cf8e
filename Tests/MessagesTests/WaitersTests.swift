import CommandSupport
import LinnetTesting
import Synchronization
import Testing

@testable import LinnetMessages

@Suite("Waiters", .timeLimit(.minutes(1)))
struct WaitersTests {
    /// A counter that tasks wait for.
    private final class Counter: Sendable {
        struct State {
            var count = 0
            var waiters = Waiters<Int?>()
        }

        let state = Mutex(State())

        var hasWaiters: Bool { state.withLock { !$0.waiters.isEmpty } }

        func take() async -> Int? {
            await state.wait(in: { $1(&$0.waiters) }, ifCancelled: { nil }) { state -> Int?? in
                guard state.count > 0 else { return nil }
                state.count -= 1
                return .some(-1)
            }
        }

        func takeDespiteCancellation() async -> Int? {
            await state.wait(in: { $1(&$0.waiters) }, ifCancelled: nil) { _ in nil }
        }

        /// Passes a value to the first waiter; counts it if there is none.
        func give(_ value: Int) {
            let waiter = state.withLock { state in
                let waiter = state.waiters.takeFirst()
                if waiter == nil { state.count += 1 }
                return waiter
            }
            waiter?.resume(returning: value)
        }

        func waitForWaiters(_ count: Int) async {
            while state.withLock({ $0.waiters.count }) != count, !Task.isCancelled { await Task.yield() }
        }
    }

    @Test func anAvailableValueIsReturnedWithoutWaitingEvenToACancelledTask() async {
        let counter = Counter()
        counter.give(1)
        counter.give(2)
        #expect(await counter.take() == -1)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await counter.take()
        }
        #expect(await cancelled.value == -1)
        #expect(!counter.hasWaiters)
    }

    @Test func waitersAreResumedInTheOrderOfArrival() async {
        let counter = Counter()
        let recorder = EventRecorder<[Int]>()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<10 {
                group.addTask { recorder.record([number, await counter.take() ?? -2]) }
                await counter.waitForWaiters(number + 1)
            }
            for value in 0..<10 { counter.give(value) }
        }
        #expect(recorder.events.sorted { $0[0] < $1[0] } == (0..<10).map { [$0, $0] })
    }

    @Test func aCancelledTaskStopsWaiting() async {
        let counter = Counter()
        let task = Task { await counter.take() }
        await counter.waitForWaiters(1)
        task.cancel()
        #expect(await task.value == nil)
        #expect(!counter.hasWaiters)
        let before = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await counter.take()
        }
        #expect(await before.value == nil)
        #expect(!counter.hasWaiters)
    }

    @Test func aWaitThatIgnoresCancellationGoesOn() async {
        let counter = Counter()
        let task = Task { await counter.takeDespiteCancellation() }
        await counter.waitForWaiters(1)
        task.cancel()
        #expect(counter.hasWaiters)
        counter.give(7)
        #expect(await task.value == 7)
    }

    /// Of many waiters, every second one leaves, from the last to the first, and the others keep their order.
    @Test func theOthersKeepTheirOrderWhenManyLeave() async {
        let (counter, recorder) = (Counter(), EventRecorder<Int>())
        var tasks: [Task<Void, Never>] = []
        for number in 0..<300 {
            tasks.append(Task { recorder.record(await counter.take().map { number * 1000 + $0 } ?? -1) })
            await counter.waitForWaiters(number + 1)
        }
        for number in stride(from: 299, through: 1, by: -2) {
            tasks[number].cancel()
            await tasks[number].value
            // The places of those that left are not kept.
            #expect(counter.state.withLock { $0.waiters.places.count <= 2 * $0.waiters.count + 16 })
        }
        for value in 0..<150 {
            counter.give(value)
            await tasks[2 * value].value
        }
        #expect(recorder.events.count { $0 == -1 } == 150)
        #expect(recorder.events.filter { $0 >= 0 } == (0..<150).map { 2 * $0 * 1000 + $0 })
        #expect(!counter.hasWaiters)
    }

    /// Tasks take their numbers before they wait, and one may overtake another.
    @Test func numbersDecideOnTheOrder() async {
        let counter = Counter()
        var tasks: [UInt64: Task<Int?, Never>] = [:]
        for id: UInt64 in [5, 9, 7, 2] {
            tasks[id] = Task {
                await withCheckedContinuation { waiter in counter.state.withLock { $0.waiters.add(waiter, id: id) } }
            }
            await counter.waitForWaiters(tasks.count)
        }
        counter.state.withLock { $0.waiters.take(7) }?.resume(returning: 0)
        for value in 1...3 { counter.give(value) }
        var values: [UInt64: Int?] = [:]
        for (id, task) in tasks { values[id] = await task.value }
        #expect(values == [7: 0, 2: 1, 5: 2, 9: 3])
        let others = counter.state.withLock { ($0.waiters.take(9) == nil, $0.waiters.takeAll().count) }
        #expect(!counter.hasWaiters && others == (true, 0))
    }

    /// Whatever the order of values and cancellations, each waiter is resumed once, and no value is lost.
    @Test func noValueIsLostAmongCancellations() async {
        let seed = RandomSeed.next()
        var random = SplitMix(seed: seed)
        for _ in 0..<200 {
            let counter = Counter()
            let tasks = (0..<20).map { _ in Task { await counter.take() } }
            let cancelled = tasks.filter { _ in Bool.random(using: &random) }
            async let giving: Void = { for value in 0..<20 { counter.give(value) } }()
            for task in cancelled { task.cancel() }
            await giving
            var received = 0
            for task in tasks where await task.value != nil { received += 1 }
            let left = counter.state.withLock { $0.count }
            #expect(received + left == 20, "seed \(seed)")
            #expect(!counter.hasWaiters)
        }
    }
}
