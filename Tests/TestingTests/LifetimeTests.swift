import Synchronization
import Testing

@testable import LifetimeSupport

/// Tests of the support that counts living objects.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct LifetimeTests {
    private struct Refused: Error {}

    private final class Kept: Sendable {
        private let held = Mutex<Kept?>(nil)

        var other: Kept? {
            get { held.withLock { $0 } }
            set { held.withLock { $0 = newValue } }
        }
    }

    private final class Refusing {
        let kept = Kept()
        let number: Int

        init(_ number: Int?) throws {
            guard let number else { throw Refused() }
            self.number = number
        }
    }

    private actor Kind {}
    private final class Box<Value> { var value: Value? }

    private func living(_ name: String, after mark: UInt64) -> Int {
        LivingObjects.made(after: mark).filter { $0.key.contains(name) }.values.reduce(0, +)
    }

    @Test func anObjectIsCountedWhileItLives() {
        let mark = LivingObjects.last()
        do {
            let objects = (0..<100).map { _ in Kept() }
            #expect(living("Kept", after: mark) == 100)
            #expect(LivingObjects.last() - mark >= 100)
            withExtendedLifetime(objects) {}
        }
        #expect(living("Kept", after: mark) == 0)
    }

    @Test func aReferenceCycleStaysCounted() {
        let mark = LivingObjects.last()
        weak var seen: Kept?
        do {
            let first = Kept()
            let second = Kept()
            first.other = second
            second.other = first
            seen = first
        }
        #expect(living("Kept", after: mark) == 2)
        seen?.other = nil
        #expect(living("Kept", after: mark) == 0)
    }

    @Test func anInitializerThatThrowsLeavesNothing() {
        let mark = LivingObjects.last()
        #expect(throws: Refused.self) { try Refusing(nil) }
        #expect(living("Refusing", after: mark) == 0)
        #expect(living("Kept", after: mark) == 0)
    }

    @Test func actorsAndGenericClassesAreCounted() {
        let mark = LivingObjects.last()
        do {
            let (kind, box) = (Kind(), Box<[String]>())
            #expect(living("Kind", after: mark) == 1)
            #expect(living("Box", after: mark) == 1)
            withExtendedLifetime((kind, box)) {}
        }
        #expect(living("Kind", after: mark) == 0)
        #expect(living("Box", after: mark) == 0)
    }

    @Test func anObjectThatATestLeavesIsAnIssueWithItsClass() async throws {
        let test = try #require(Test.current)
        let trait = LeavesNothingAlive(patience: .milliseconds(10), period: SharedTestPeriod())
        let left = Kept()
        try await withKnownIssue {
            try await trait.provideScope(for: test, testCase: nil) { left.other = Kept() }
        } matching: {
            $0.comments.contains { $0.rawValue.contains("1 TestingTests.") && $0.rawValue.contains("Kept") }
        }
        left.other = nil
    }

    @Test func anObjectThatIsReleasedInTimeIsNoIssue() async throws {
        let test = try #require(Test.current)
        let trait = LeavesNothingAlive(patience: .seconds(20), period: SharedTestPeriod())
        try await trait.provideScope(for: test, testCase: nil) {
            let kept = Kept()
            Task {
                for _ in 0..<100 { await Task.yield() }
                withExtendedLifetime(kept) {}
            }
        }
    }

    @Test func parallelTestsAreCheckedTogetherWhenTheLastEnds() {
        var period = TestPeriod()
        period.begin("first", last: 10)
        #expect(period.judged?.mark == 10)
        period.begin("second", last: 20)
        #expect(period.judged == nil)
        period.end()
        #expect(period.judged?.mark == 10)
        #expect(period.judged?.names == ["first", "second"])
        period.end()
        #expect(period.judged == nil)
        period.begin("third", last: 30)
        #expect(period.judged?.mark == 30)
        #expect(period.judged?.names == ["third"])
    }
}
