import BenchMemory
import Foundation
import Linnet

extension Exchange {
    func hedge(_ random: inout Random) async throws {
        let wait = Int.random(in: 0..<60, using: &random)
        let call = try call("slow/0?size=\(draw.size)&wait=\(wait)").hedging(.init(after: .milliseconds(20)))
        try await expectContent(call.response().value)
    }

    /// Sends with a handle, which is suspended and cancelled.
    func handle(_ random: inout Random) async throws {
        let task = try call(path()).task(DataResponseSerializer())
        task.resume()
        if random.happens(0.3) {
            task.suspend()
            try await Task.sleep(for: .milliseconds(2))
            task.resume()
        }
        if let wait = draw.cancellation {
            try await Task.sleep(for: wait)
            task.cancel()
        }
        try await expectContent(task.value.value)
    }

    /// Waits for less time than the server needs.
    func timeout() async throws {
        _ = try await call("slow/0?size=\(draw.size)&wait=500") { $0.options.timeout = .milliseconds(30) }.response()
        throw Failure("a response of 500 ms came within 30 ms")
    }

    /// Sends in a session of its own.
    func session(_ random: inout Random) async throws {
        var configuration = lane.configuration
        configuration.cacheStore = nil
        configuration.securityPolicy = lane.session.securityPolicy
        let session = try HTTPSession(baseURL: lane.base, configuration: configuration)
        let mode: ShutdownMode = random.happens(0.5) ? .graceful : .immediate
        let result: Result<Data, any Error>
        do {
            result = .success(try await session.call(request(path())).response().value)
        } catch {
            result = .failure(error)
        }
        await session.shutdown(mode)
        try expectContent(result.get())
    }
}
