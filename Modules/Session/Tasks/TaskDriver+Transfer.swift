internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

extension TaskDriver: TransferObserver, TransferControl {
    /// The flight of the task's request, which the driver and its hooks take part in.
    func flight(_ request: SessionRequest, _ additions: Boxed<Flight.Additions>?) -> Flight {
        var flight = Flight(request, hooks: requestHooks(), additions: additions)
        flight.observer = self
        flight.control = self
        return flight
    }

    var taskID: UInt64 { id }

    func willSendBody(length: Int64?) {
        changeProgress { $0.willSend(total: length) }
    }

    func didSendBody(bytes: Int) {
        changeProgress { $0.didSend(Int64(bytes)) }
    }

    var priority: RequestPriority { shared.withLock { $0.priority } }

    func setPriority(_ priority: RequestPriority) {
        let place = shared.withLock { state in
            state.priority = priority
            return state.place
        }
        place?.setPriority(priority)
    }

    func willWait(_ place: WaitingPlace) {
        shared.replace(\.place, with: place)
        var priority = self.priority
        // The priority may have changed since the request was queued, and may change again before the place has it.
        while true {
            place.setPriority(priority)
            let current = self.priority
            if current == priority { return }
            priority = current
        }
    }

    func willReceiveBody(length: Int64?) {
        changeProgress { $0.willReceive(total: length) }
    }

    func didReceiveWholeBody(bytes: Int, length: () -> Int64?) {
        let isTold = shared.withLock { state in
            // Observers hear of it like of any other body, and a throughput is measured over some time.
            guard !state.outbox.hasObservers else { return true }
            _ = state.machine.willReceive(total: Int64(bytes))
            _ = state.machine.didReceive(Int64(bytes))
            return false
        }
        guard isTold else { return }
        willReceiveBody(length: length())
        didReceiveBody(bytes: bytes)
    }

    func willReceiveBody(length: Int64?, from offset: Int64) {
        changeProgress { $0.willReceive(total: length, from: offset) }
    }

    func didReceiveBody(bytes: Int) {
        changeProgress { $0.didReceive(Int64(bytes)) }
    }

    func didFinishHedge(_ metrics: TransportMetrics) {
        shared.withLock { $0.metrics.append(metrics) }
    }

    func didFinishAttempt(_ metrics: TransportMetrics) {
        shared.withLock { state in
            state.metrics.append(metrics)
            state.machine.didEndAttempt()
        }
    }

    var attemptMetrics: [TransportMetrics] { shared.withLock { $0.metrics } }

    var isSuspended: Bool { shared.withLock { $0.machine.isGateClosed } }

    func waitWhileSuspended() async throws {
        guard isSuspended else { return }
        let isOpen = await shared.wait(in: { $1(&$0.gate) }, ifCancelled: { false }) { state in
            if Task.isCancelled { return false }
            return state.machine.isGateClosed ? nil : true
        }
        guard isOpen else { throw CancellationError() }
    }

    func decided(_ decision: TaskEvent.Decision) {
        change { state in
            // Nothing follows the completion.
            if state.outcome == nil { state.outbox.append(.decided(decision)) }
            return {}
        }
    }

    func commit() async throws {
        while true {
            switch shared.withLock({ $0.machine.commit() }) {
            case .goOn: return
            case .wait: try await waitWhileSuspended()
            case .stop: throw CancellationError()
            }
        }
    }

    func nextKey() -> UInt64 {
        shared.withLock { state in
            state.lastKey += 1
            return state.lastKey
        }
    }
}
