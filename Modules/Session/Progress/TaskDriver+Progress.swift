internal import Synchronization

extension TaskDriver.Shared {
    /// The progress with its throughput, as the handle reports it.
    func progress(at now: ContinuousClock.Instant) -> TaskProgress {
        outcome == nil ? pace.measured(machine.progress, at: now) : machine.progress
    }

    /// Reports the progress to observers, unless it was already reported. A nil time means that the task has ended.
    mutating func publishProgress(at now: ContinuousClock.Instant?) {
        guard machine.progress != pace.told else { return }
        pace.didTell(machine.progress, at: now)
        outbox.append(.progress(now.map { progress(at: $0) } ?? machine.progress))
    }
}

extension TaskDriver {
    /// Changes the progress, and reports it at most once per interval.
    func changeProgress(_ body: (inout TaskStateMachine) -> Bool) {
        change { state in
            let before = state.machine.progress
            guard body(&state.machine) else { return {} }
            let now = ContinuousClock.now
            state.pace.changed(from: before, to: state.machine.progress, at: now)
            guard state.outbox.hasObservers else { return {} }
            switch state.pace.step(at: now) {
            case .tell: state.publishProgress(at: now)
            case .wait(let time): return { [weak self] in self?.startProgressTimer(time) }
            case .none: break
            }
            return {}
        }
    }

    private func startProgressTimer(_ time: Duration) {
        let timer = Task { [weak self] in
            do { try await Task.sleep(for: time.waitable) } catch { return }
            self?.tellDelayedProgress()
        }
        let hasEnded = shared.withLock { state in
            state.pace.setTimer(timer)
            return state.outcome != nil
        }
        if hasEnded { timer.cancel() }
    }

    private func tellDelayedProgress() {
        change { state in
            state.pace.timerFired()
            if state.outcome == nil { state.publishProgress(at: .now) }
            return {}
        }
    }
}
