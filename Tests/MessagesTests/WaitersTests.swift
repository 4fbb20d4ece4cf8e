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
