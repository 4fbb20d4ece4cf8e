import LinnetSession
import Testing

@testable import LinnetBackground

/// The division of a file, and the workers that transfer its segments.
@Suite struct SegmentMapTests {
    @Test(arguments: [(4 << 20, 4), (4 << 20 + 3, 4), (10 << 20 + 1, 16), (100 << 20 + 7, 16)] as [(Int64, Int)])
    func theSegmentsFollowOneAnother(total: Int64, count: Int) throws {
        let map = try #require(SegmentMap(total: total, count: count))
        #expect(map.isSound && map.total == total && map.received == 0 && !map.isWhole)
        #expect(map.segments.count == min(count, Int(total / SegmentMap.smallest)))
        #expect(map.segments.allSatisfy { $0.end - $0.start >= SegmentMap.smallest })
    }

    @Test(arguments: [0, 1, (2 << 20) - 1] as [Int64])
    func aSmallFileIsNotDivided(total: Int64) {
        #expect(SegmentMap(total: total, count: 4) == nil)
        #expect(SegmentMap(total: .max, count: 1) == nil)
    }

    @Test func writtenBytesAreCounted() throws {
        var map = try #require(SegmentMap(total: 4 << 20, count: 2))
        map.write(100, to: 1)
        map.write(50, to: 1)
        #expect(map.segments[1].rest == (2 << 20) + 150..<4 << 20)
        #expect(map.received == 150)
        // Numbers of a process before count if they are further, and not beyond the end.
        map.advance(to: [.max, 20])
        #expect(map.segments.map(\.done) == [2 << 20, 150])
        map.advance(to: [1, 2, 3])
        #expect(map.received == 2 << 20 + 150)
        map.advance(to: [0, .max])
        #expect(map.isWhole && map.isSound)
    }

    @Test func aRefusedWorkerLeavesItsSegmentToOthers() {
        let refusal = BackgroundError(.transferFailed, "busy", sessionCode: .unacceptableStatus)
        let pool = SegmentPool([0, 1])
        #expect(pool.take() == 0 && pool.take() == 1)
        #expect(pool.fail(1, refusal))
        #expect(pool.take() == 1)
        #expect(pool.failure == nil)
        #expect(!pool.fail(1, refusal))
        #expect(pool.failure?.message == "busy")
        #expect(pool.take() == nil)
    }

    @Test func theLastWorkersRefusalIsTheFailure() {
        let refusal = BackgroundError(.transferFailed, "busy", sessionCode: .unacceptableStatus)
        let pool = SegmentPool([0, 1])
        #expect(pool.take() == 0 && pool.take() == 1)
        // The first worker has nothing left to do, so nobody takes the other's segment.
        #expect(pool.take() == nil)
        #expect(!pool.fail(1, refusal))
        #expect(pool.failure != nil)
    }

    @Test(arguments: [SessionError.Code.invalidResumeData, .cancelled])
    func otherErrorsEndAllWorkers(code: SessionError.Code) {
        let pool = SegmentPool([0, 1, 2])
        #expect(pool.take() == 0)
        #expect(!pool.fail(0, BackgroundError(.transferFailed, "changed", sessionCode: code)))
        #expect(pool.take() == nil)
    }
}
