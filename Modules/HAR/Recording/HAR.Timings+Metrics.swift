internal import LinnetTransport

extension HAR.Timings {
    /// The times of a send.
    ///
    /// The wait for a connection contains earlier attempts that failed. A step on a connection that was opened before
    /// the attempt is none of its own.
    init(_ facts: SendRecord.Snapshot) {
        let end = facts.ended ?? facts.responded ?? facts.started
        guard let metrics = facts.attempts.last, let start = metrics.start else {
            let responded = facts.responded ?? end
            self.init(wait: (responded - facts.started).milliseconds, receive: (end - responded).milliseconds)
            return
        }
        func own(_ span: TransportMetrics.Span?) -> TransportMetrics.Span? {
            span.flatMap { $0.start >= start ? $0 : nil }
        }
        let queueEnd = own(metrics.queue)?.end ?? start
        let ssl = own(metrics.tlsHandshake)
        let connect = own(metrics.connect)
        self.init(
            blocked: (queueEnd - (facts.attempts.first?.start ?? start)).milliseconds,
            dns: own(metrics.nameResolution)?.duration.milliseconds,
            connect: connect.map { ((ssl?.end ?? $0.end) - $0.start).milliseconds }, ssl: ssl?.duration.milliseconds)
        guard let sending = metrics.requestStart else {
            // Time in which nothing was sent is part of the wait.
            let last = ssl?.end ?? connect?.end ?? own(metrics.nameResolution)?.end ?? queueEnd
            wait = max(0, (end - last).milliseconds)
            return
        }
        let answer = metrics.responseStart ?? end
        let sent = min(metrics.requestEnd ?? answer, answer)
        send = (sent - sending).milliseconds
        wait = (answer - sent).milliseconds
        receive = ((metrics.responseEnd ?? end) - answer).milliseconds
    }
}

extension Duration {
    /// The number of milliseconds with three decimals; zero for a negative time.
    fileprivate var milliseconds: Double { max(0, (self / .microseconds(1)).rounded() / 1000) }
}
