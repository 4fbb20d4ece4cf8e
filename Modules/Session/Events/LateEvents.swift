internal import LinnetSerialization

/// The events of a request without a handle that had no subscriber when it began. Until there is one, they cost a
/// number.
struct LateEvents: Sendable {
    private let hub: TaskEventHub
    private let id = TaskID.next()

    init(_ hub: TaskEventHub) { self.hub = hub }

    func decided(_ decision: @autoclosure () -> TaskEvent.Decision, _ request: SessionRequest) {
        guard hub.isWatched else { return }
        reporter(request).decided(decision(), nil)
    }

    func completed(_ error: SessionError?, _ request: SessionRequest) {
        guard hub.isWatched else { return }
        hub.post(reporter(request).event(.completed(error)))
    }

    private func reporter(_ request: SessionRequest) -> TaskReporter {
        TaskReporter(.data, request, id: id, hub: hub)
    }

    /// Runs a request, and reports its end.
    func reportingEnd<Value>(
        of request: SessionRequest, _ run: () async throws(SessionError) -> Value
    ) async throws(SessionError) -> Value {
        do throws(SessionError) {
            let value = try await run()
            completed(nil, request)
            return value
        } catch {
            completed(error, request)
            throw error
        }
    }
}
