import NIOCore
import Testing

@testable import LinnetTransport

@Suite("The size of a body's slices", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct BodySliceSizeTests {
    @Test func aFastSocketGetsMoreAtATime() {
        var size = BodySliceSize()
        let first = size.bytes
        for _ in 0..<10 { size.took(.milliseconds(1)) }
        #expect(size.bytes > first)
        #expect(size.bytes == 512 * 1024)
    }

    /// At 1 KB/s a slice is accepted within a quarter of the default idle timeout.
    @Test func aSlowSocketGetsLessAtATime() {
        var size = BodySliceSize()
        for _ in 0..<10 { size.took(.seconds(1)) }
        #expect(size.bytes == 16 * 1024)
    }

    @Test func aSliceAcceptedInATenthOfASecondKeepsItsSize() {
        var size = BodySliceSize()
        let first = size.bytes
        size.took(.milliseconds(100))
        #expect(size.bytes == first)
    }
}
