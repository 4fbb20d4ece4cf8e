internal import Glibc
internal import Synchronization

/// The work of the engine's thread: it waits for the end of a burst of changes, reads the state, and publishes the
/// members' statuses.
///
/// The loop calls no user code, so a wait for its end lasts no longer than a call to the kernel. Probes run in tasks,
/// and are cancelled in tasks.
struct NetworkLoop: Sendable {
    private let mailbox: EngineMailbox
    private var source: any NetworkSource
    private var state = NetworkState()
    /// Whether the state must be read before its next use.
    private var isStale = true
    private var nextPoll: ContinuousClock.Instant?
    /// The time when the state may be read again after a failure; nil without a failure.
    private var pauseEnd: ContinuousClock.Instant?
    private var members: [UInt64: EngineMember] = [:]
    private var jobs: JobQueue
    private var probes: [UInt64: Task<Void, Never>] = [:]

    init(_ source: any NetworkSource, _ mailbox: EngineMailbox) {
        self.source = source
        self.mailbox = mailbox
        jobs = JobQueue(mailbox)
    }

    /// Runs until the command to end.
    mutating func run() {
        while true {
            wait()
            for command in mailbox.take() {
                if case .end = command {
                    for probe in probes.values { Self.cancel(probe) }
                    return
                }
                perform(command)
            }
            let now = ContinuousClock.now
            note(source.receiveChanges(into: &state), at: now)
            if let nextPoll, nextPoll <= now { readAtInterval(at: now) }
            if let pauseEnd, pauseEnd > now { continue }
            let due = members.values.filter { $0.deadline.map { $0 <= now } ?? false }
            if !due.isEmpty { serve(due.map(\.id), at: now) }
        }
    }

    private func wait() {
        var descriptors = [pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)]
        if let descriptor = source.descriptor {
            descriptors.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        }
        var deadline = (members.values.map(\.deadline) + [nextPoll]).compactMap { $0 }.min()
        if let pauseEnd { deadline = deadline.map { max($0, pauseEnd) } }
        let timeout = source.hasPendingChanges ? 0 : PollTimeout.until(deadline, at: .now)
        _ = Glibc.poll(&descriptors, nfds_t(descriptors.count), timeout)
        mailbox.wakeUps.add(1, ordering: .relaxed)
    }

    private mutating func perform(_ command: EngineMailbox.Command) {
        let now = ContinuousClock.now
        switch command {
        case .add(var member):
            // The monitor's reading before it was added can be outdated.
            member.debouncer.expire(at: now)
            members[member.id] = member
            // The last poll may be older than the monitor's reading.
            if source.interval != nil { readAtInterval(at: now) }
        case .remove(let id):
            members[id] = nil
            if let probe = probes.removeValue(forKey: id) { Self.cancel(probe) }
        case .resolved(let id, let found):
            if members[id]?.host?.finish(found, at: now) == true, let member = members[id] { lookUp(member) }
            members[id]?.debouncer.expire(at: now)
        case .probed(let id, let succeeded):
            probes[id] = nil
            members[id]?.probe?.finish(succeeded, at: now)
            members[id]?.debouncer.expire(at: now)
        case .jobEnded: jobs.jobEnded()
        case .end: break
        }
    }

    private mutating func note(_ change: NetworkChange, at now: ContinuousClock.Instant) {
        guard change > .nothing else { return }
        if change == .everything { isStale = true }
        for (id, member) in members where member.isAffected(by: change) {
            members[id]?.debouncer.noticeChange(at: now)
            if change == .everything { members[id]?.host?.noteChange() }
        }
    }

    /// Reads a source that does not report changes. The route to an address can change without a change of the state.
    private mutating func readAtInterval(at now: ContinuousClock.Instant) {
        nextPoll = source.interval.map { now.advanced(by: $0) }
        guard let latest = try? source.read() else { return }
        note(latest == state ? .otherRoutes : .everything, at: now)
        state = latest
    }
}

extension NetworkLoop {
    /// Publishes the statuses of members whose deadlines have passed.
    private mutating func serve(_ ids: [UInt64], at now: ContinuousClock.Instant) {
        do {
            if isStale {
                state = try source.read()
                isStale = false
            }
            pauseEnd = nil
            source.forget()
            for id in ids { serve(id, at: now) }
        } catch {
            // The last status stays until the kernel answers again.
            pauseEnd = now.advanced(by: Self.pause)
        }
    }

    private static let pause = Duration.seconds(1)

    private mutating func serve(_ id: UInt64, at now: ContinuousClock.Instant) {
        guard var member = members[id] else { return }
        _ = member.debouncer.takeDeadline(at: now)
        if member.host?.takeRequest(at: now) == true { lookUp(member) }
        var status = member.target.status(StatusEvaluator(state, member.configuration), &source, member.host)
        member.probe?.note(status.path, at: now)
        if member.probe?.takeDeadline(at: now) == true { startProbe(member) }
        status.isConfirmed = member.probe?.isConfirmed
        members[id] = member
        member.publisher.publish(status, run: member.run)
    }

    private mutating func lookUp(_ member: EngineMember) {
        guard case .host(let name, let port) = member.target else { return }
        let (id, resolver) = (member.id, member.resolver)
        jobs.add(
            JobQueue.Job(
                work: { .resolved(id: id, resolver.look(name, port)) }, failure: .resolved(id: id, nil)))
    }

    private mutating func startProbe(_ member: EngineMember) {
        let (id, mailbox) = (member.id, mailbox)
        switch member.configuration.probe?.check {
        case .connection(let host, let port, let timeout)?:
            jobs.add(
                JobQueue.Job(
                    work: { .probed(id: id, ConnectionProbe.succeeds(host: host, port: port, timeout: timeout)) },
                    failure: .probed(id: id, false)))
        case .custom(let check)?:
            probes[id] = Task { mailbox.post(.probed(id: id, await check())) }
        case nil: break
        }
    }

    /// Cancels a probe in a task, because the cancellation handlers of a probe are user code: they can block, for
    /// example on a lock of the thread that waits for this one.
    private static func cancel(_ probe: Task<Void, Never>) {
        Task { probe.cancel() }
    }
}
