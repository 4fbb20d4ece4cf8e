import FoundationEssentials
import Linnet
import LinnetTesting
import Testing

/// Tests with a server that sends 16 KiB per second, so that 64 KiB take some seconds.
@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct SlowBodyTests {
    private let file = ServedFile.middle
    private let size = Int64(ServedFile.middle.size)

    @Test func progressIncreasesToTheTotal() async throws {
        try await Server.slow.withSession { session in
            let task = session.call(.get, file.path).task()
            let updates = task.progressUpdates
            task.resume()
            var seen: [TransferProgress] = []
            for await progress in updates { seen.append(progress.download) }
            #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.completed <= $1.completed })
            #expect(Set(seen.map(\.completed)).count >= 3)
            #expect(seen.allSatisfy { $0.total == nil || $0.total == size })
            #expect(seen.last?.completed == size && seen.last?.total == size)
            let response = try await task.value
            #expect(response.value == file.bytes)
        }
    }

    @Test func progressIsCalledBackBeforeSuccess() async throws {
        try await Server.slow.withSession { session in
            let calls = EventRecorder<Int64?>()
            let task = session.get(file.path).task()
            task.onProgress { calls.record($0.download.completed) }
            task.onCompletion { _ in calls.record(nil) }
            task.resume()
            let seen = try await calls.wait { $0.contains(nil) }
            #expect(seen.count { $0 == nil } == 1)
            let progress = seen.dropLast().compactMap { $0 }
            #expect(progress.count == seen.count - 1)
            #expect(progress == progress.sorted())
            #expect(progress.last == size)
        }
    }

    @Test(arguments: Surface.allCases)
    func theRequestTimeoutAppliesToTheBody(surface: Surface) async throws {
        try await Server.slow.withSession { session in
            var options = RequestOptions()
            options.timeout = .milliseconds(1500)
            let clock = ContinuousClock()
            let start = clock.now
            let error = await #expect(throws: SessionError.self) {
                try await surface.data(file.path, on: session, options: options)
            }
            #expect(error?.code == .timeout)
            #expect(error?.timeout == .request)
            #expect(clock.now - start >= options.timeout ?? .zero)
        }
    }

    @Test func theIdleTimeoutDoesNotApplyWhileBytesArrive() async throws {
        try await Server.slow.withSession { session in
            var options = RequestOptions()
            options.idleTimeout = .milliseconds(2500)
            let clock = ContinuousClock()
            let start = clock.now
            let response = try await session.get(file.path).options(options).response()
            #expect(response.value == file.bytes)
            #expect(clock.now - start > .milliseconds(2500))
        }
    }

    @Test func aHandleIsCancelledInTheMiddle() async throws {
        try await Server.slow.withSession { session in
            let task = session.call(.get, file.path).task()
            task.resume()
            let reached = try await firstProgress(of: task)
            #expect(reached < size)
            task.cancel()
            let error = await #expect(throws: SessionError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            #expect(task.state == .completed)
            // The connection cannot be reused in the middle of a body; the session can.
            let next = try await session.get("1k").response()
            #expect(next.value == ServedFile.small.bytes)
            #expect(next.metrics.last?.isReusedConnection == false)
        }
    }

    @Test func aCallbackTaskIsCancelledInTheMiddle() async throws {
        try await Server.slow.withSession { session in
            let failures = EventRecorder<SessionError>()
            let progress = EventRecorder<Int64>()
            let task = session.get(file.path).task()
            task.onProgress { if $0.download.completed > 0 { progress.record($0.download.completed) } }
            task.onCompletion { result in
                switch result {
                case .success: Issue.record("A cancelled request succeeded.")
                case .failure(let error): failures.record(error)
                }
            }
            task.resume()
            try await progress.wait(count: 1)
            task.cancel()
            try await failures.wait(count: 1)
            #expect(failures.events.map(\.code) == [.cancelled])
        }
    }

    @Test func cancellingTheAwaitingTaskCancelsTheTransfer() async throws {
        try await Server.slow.withSession { session in
            let started = Signal()
            let observation = session.onEvent { event in
                if case .resumed = event.kind { started.fire() }
            }
            let download = Task { try await session.get(file.path).response() }
            await started.wait()
            download.cancel()
            let error = await #expect(throws: SessionError.self) { try await download.value }
            #expect(error?.code == .cancelled)
            observation.cancel()
        }
    }

    @Test func aStreamIsCancelledInTheMiddle() async throws {
        try await Server.slow.withSession { session in
            let request = try session.call(.get, file.path).request()
            let firstChunk = Signal()
            let reader = Task {
                var count = 0
                for try await chunk in try await session.call(request).bytes().body {
                    count += chunk.count
                    firstChunk.fire()
                }
                return count
            }
            await firstChunk.wait()
            reader.cancel()
            let error = await #expect(throws: SessionError.self) { try await reader.value }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func aSuspendedHandleContinuesAfterResume() async throws {
        try await Server.slow.withSession { session in
            let task = session.call(.get, file.path).task()
            let states = EventRecorder<TaskState>()
            task.onStateChange { states.record($0) }
            task.resume()
            _ = try await firstProgress(of: task)
            task.suspend()
            #expect(task.state == .suspended)
            // Meanwhile another response of the same size is received completely.
            let other = try await session.get(file.path).response()
            #expect(other.value == file.bytes)
            #expect(task.state == .suspended)
            #expect(task.progress.download.completed < size)
            task.resume()
            #expect(try await task.value.value == file.bytes)
            #expect(task.progress.download == TransferProgress(completed: size, total: size))
            try await states.wait { $0.last == .completed }
            #expect(states.events == [.suspended, .running, .suspended, .running, .completed])
        }
    }

    @Test func aSuspendedHandleCanBeCancelled() async throws {
        try await Server.slow.withSession { session in
            let task = session.call(.get, file.path).task()
            task.resume()
            _ = try await firstProgress(of: task)
            task.suspend()
            task.cancel()
            let error = await #expect(throws: SessionError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func immediateShutdownFailsRunningRequests() async throws {
        let session = try HTTPSession(baseURL: Server.slow.url)
        let task = session.call(.get, file.path).task()
        task.resume()
        _ = try await firstProgress(of: task)
        await session.shutdown(.immediate)
        let error = await #expect(throws: SessionError.self) { try await task.value }
        #expect(error?.code == .shutDown)
    }

    @Test func gracefulShutdownWaitsForABody() async throws {
        let session = try HTTPSession(baseURL: Server.slow.url)
        let task = session.call(.get, file.path).task()
        task.resume()
        _ = try await firstProgress(of: task)
        await session.shutdown(.graceful)
        #expect(try await task.value.value == file.bytes)
    }

    /// Waits for the first bytes of a body, and returns their number.
    private func firstProgress(of task: some SessionTask) async throws -> Int64 {
        for await progress in task.progressUpdates where progress.download.completed > 0 {
            return progress.download.completed
        }
        Issue.record("The task ended without any progress: \(String(describing: task.error))")
        return 0
    }
}
