import FoundationEssentials
import LinnetSession
import LinnetTesting
import Testing

@testable import LinnetBackground

/// Bandwidth limits.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct BandwidthTests {
    @Test func aBucketAsksToWaitForItsDebt() {
        let start = ContinuousClock.now
        var bucket = TokenBucket(rate: 1000, at: start)
        let first = bucket.take(500, at: start)
        #expect(first == .seconds(0.5))
        let second = bucket.take(500, at: start + .seconds(0.5))
        #expect(second == .seconds(0.5))
        // Unused time is saved up for a quarter of a second at most.
        let third = bucket.take(250, at: start + .seconds(100))
        #expect(third == .zero)
        let fourth = bucket.take(1000, at: start + .seconds(100))
        #expect(fourth == .seconds(1))
    }

    @Test func aBucketWithoutARateNeverWaits() {
        var bucket = TokenBucket(at: .now)
        let wait = bucket.take(.max, at: .now)
        #expect(wait == .zero)
    }

    @Test func anotherRateForgivesTheDebt() {
        let start = ContinuousClock.now
        var bucket = TokenBucket(rate: 10, at: start)
        _ = bucket.take(1_000_000, at: start)
        let isChanged = bucket.setRate(1000, at: start)
        let wait = bucket.take(100, at: start)
        #expect(isChanged && wait == .seconds(0.1))
    }

    @Test(arguments: [true, false])
    func aDownloadKeepsToItsLimit(isOfAll: Bool) async throws {
        try await withFileServer(["/file": bytes(600_000)]) { _, server in
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    if isOfAll { try await background.limitBandwidth(to: 1_000_000) }
                    let start = ContinuousClock.now
                    let task = try await background.download(background.get(server), to: folder.appending(path: "a")) {
                        if !isOfAll { $0.bytesPerSecond = 1_000_000 }
                    }
                    #expect(try await background.ended(task.id).state == .completed)
                    let time = ContinuousClock.now - start
                    #expect(time > .milliseconds(300) && time < .seconds(5), "\(time)")
                }
            }
        }
    }

    @Test func anUploadKeepsToItsLimit() async throws {
        try await withFileServer([:]) { files, server in
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try bytes(600_000).write(to: file)
                try await withBackground(in: folder) { background in
                    let start = ContinuousClock.now
                    let call = try background.session.put(server.url("/a").absoluteString)
                    let task = try await background.upload(call, fromFile: file) { $0.bytesPerSecond = 1_000_000 }
                    #expect(try await background.ended(task.id).state == .completed)
                    #expect(ContinuousClock.now - start > .milliseconds(300))
                }
                #expect(files.requests.first?.body == bytes(600_000))
            }
        }
    }

    @Test func aLimitIsChangedWhileATransferWaits() async throws {
        try await withFileServer(["/file": bytes(3_000_000)]) { _, server in
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    try await background.limitBandwidth(to: 10_000)
                    let task = try await background.download(background.get(server), to: folder.appending(path: "a"))
                    try await background.progress(of: task.id)
                    try await withBackground(in: folder, { $0.role = .observer }) { observer in
                        #expect(try await observer.bandwidthLimit == 10_000)
                        try await observer.limitBandwidth(to: nil)
                    }
                    // Within the limit it would take five minutes.
                    #expect(try await background.ended(task.id).state == .completed)
                }
            }
        }
    }

    @Test func aTasksOwnLimitIsChangedWhileItRuns() async throws {
        try await withFileServer(["/file": bytes(3_000_000)]) { _, server in
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: folder.appending(path: "a")) {
                        $0.bytesPerSecond = 10_000
                    }
                    try await background.progress(of: task.id)
                    try await withBackground(in: folder, { $0.role = .observer }) { observer in
                        #expect(try await observer.task(task.id)?.bandwidthLimit == 10_000)
                        #expect(try await observer.limitBandwidth(of: task.id, to: nil).bandwidthLimit == nil)
                        let bad = try await failure { try await observer.limitBandwidth(of: task.id, to: 0) }
                        #expect(bad.code == .invalidOptions)
                        let other = try #require(BackgroundTask.ID("99"))
                        let missing = try await failure { try await observer.limitBandwidth(of: other, to: 1) }
                        #expect(missing.code == .noSuchTask)
                    }
                    // Within the limit it would take five minutes.
                    let ended = try await background.ended(task.id)
                    #expect(ended.state == .completed && ended.attempts == 1)
                }
            }
        }
    }

    @Test func aRunningTaskGetsALimit() async throws {
        try await withFileServer(["/file": bytes(3_000_000)]) { files, server in
            files.change { $0.throttle = .init(bytes: 16 << 10, pause: .milliseconds(10)) }
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let file = folder.appending(path: "a")
                    let task = try await background.download(background.get(server), to: file)
                    try await background.progress(of: task.id)
                    try await background.limitBandwidth(of: task.id, to: 1000)
                    // The next pieces take minutes from now on.
                    let before = try #require(try await background.task(task.id)).progress.completed
                    try await Task.sleep(for: .seconds(1))
                    let after = try #require(try await background.task(task.id)).progress.completed
                    #expect(after - before < 600_000, "\(after - before) bytes in a second")
                    #expect(try await background.task(task.id)?.state == .running)
                }
            }
        }
    }

    @Test func aPausedTransferDoesNotWaitForItsLimit() async throws {
        try await withFileServer(["/file": bytes(3_000_000)]) { _, server in
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: folder.appending(path: "a")) {
                        $0.bytesPerSecond = 1000
                    }
                    try await background.progress(of: task.id)
                    try await background.pause(task.id)
                    try await background.state(.paused, of: task.id)
                }
            }
        }
    }
}
