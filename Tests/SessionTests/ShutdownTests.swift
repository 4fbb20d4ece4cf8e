import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ShutdownTests {
    @Test(arguments: Surface.allCases, [ShutdownMode.graceful, .immediate])
    func laterRequestsFail(surface: Surface, mode: ShutdownMode) async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport)
        await client.shutdown(mode)
        #expect(await surface.send("x", with: client).error?.code == .shutDown)
        #expect(transport.shutdowns == [mode])
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: [ShutdownMode.graceful, .immediate])
    func handlesThatNeverRanFail(mode: ShutdownMode) async throws {
        let client = try makeClient()
        let task = client.call(.get, "x").jsonTask()
        await client.shutdown(mode)
        #expect(task.state == .completed)
        #expect(task.error?.code == .shutDown)
    }

    @Test func gracefullyWhatRunsMayFinish() async throws {
        let arrived = Signal()
        let answer = Signal()
        let client = try makeClient(
            StubTransport { _ in
                arrived.fire()
                await answer.wait()
                return .json("1")
            })
        let task = client.call(.get, "x").jsonTask()
        task.resume()
        await arrived.wait()
        await client.shutdown(.graceful)
        answer.fire()
        #expect(try await task.value.value == 1)
    }
}
