internal import LinnetTransport
internal import Synchronization

extension TaskDriver: EngineSink {
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
        let priority = shared.withLock { state in
            state.place = place
            return state.priority
        }
        // The priority may have changed since the request was queued.
        place.setPriority(priority)
    }

    func willReceiveBody(length: Int64?) {
        changeProgress { $0.willReceive(total: length) }
    }

    func willReceiveBody(length: Int64?, from offset: Int64) {
        changeProgress { $0.willReceive(total: length, from: offset) }
    }

    func didReceiveBody(bytes: Int) {
        changeProgress { $0.didReceive(Int64(bytes)) }
    }

    func didFinishAttempt(_ metrics: TransportMetrics) {
        shared.withLock { state in
            state.metrics.append(metrics)
            state.machine.didEndAttempt()
        }
    }

    var attemptMetrics: [TransportMetrics] { shared.withLock { $0.metrics } }

    func passGate() async throws {
        guard shared.withLock({ $0.machine.isGateClosed }) else { return }
        let key = nextKey()
        let isOpen = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let answer = shared.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    guard state.machine.isGateClosed else { return true }
                    state.gate.add(waiter, key: key)
                    return nil
                }
                if let answer { waiter.resume(returning: answer) }
            }
        } onCancel: {
            shared.withLock { $0.gate.remove(key) }?.resume(returning: false)
        }
        guard isOpen else { throw CancellationError() }
    }

    func commit() async throws {
        while true {
            switch shared.withLock({ $0.machine.commit() }) {
            case .goOn: return
            case .wait: try await passGate()
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
