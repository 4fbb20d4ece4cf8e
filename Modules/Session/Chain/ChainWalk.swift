internal import LinnetSerialization
internal import LinnetTransport

/// The way of one flight down the links and up again, without waiting: ``next(in:_:)`` goes as far as possible, and
/// returns the action that must happen before it continues.
struct ChainWalk: Sendable {
    /// The next step that the engine performs.
    indirect enum Action: Sendable {
        /// ``outcome`` is final.
        case end
        /// The request goes to the transport. Its outcome is passed to ``receive(_:)``.
        case send
        /// The body of the response is read; its outcome is passed to ``read(_:_:)``.
        case read(StreamedResponse)
        /// The answer becomes ``Flight/answer``, or ``fail(_:_:)`` is called.
        case ask(ChainQuestion)
        /// The outcome is discarded, and ``sendAgain(_:after:_:)``, ``leave(_:)`` or ``fail(_:_:)`` is called.
        case again(SessionRequest, after: Duration, otherwise: ChainStep.Otherwise)
        /// The same with the request of an attempt, if it may be retried.
        case retry(RetryPolicy.Attempt, after: Duration)
    }

    private enum Direction {
        case down
        case downAgain
        case up
    }

    /// The state that a link restores on the way up.
    private struct Mark: Sendable {
        let index: Int
        /// The request from above.
        let request: SessionRequest
        /// The attempts before the last response.
        var attempts: [TransportMetrics] = []
    }

    private(set) var outcome: Flight.Outcome?
    private let top: Int
    private var index: Int
    private var direction = Direction.down
    /// One for each link that has changed or repeated the request, from top to bottom.
    private var marks: [Mark] = []

    /// - Parameter top: The first link of the way, which is also the last one on the way up.
    init(from top: Int = 0) {
        self.top = top
        index = top
    }

    /// Not inlined: its temporary values would be part of the frame of a request that waits.
    @inline(never)
    mutating func next(in links: [any ChainLink], _ flight: inout Flight) -> Action {
        while true {
            do throws(SessionError) {
                switch direction {
                case .down, .downAgain:
                    guard index < links.count else { return .send }
                    let step = try direction == .down ? links[index].send(&flight) : links[index].sendAgain(&flight)
                    if let action = follow(step, &flight) { return action }
                case .up:
                    if let action = try ascend(links, &flight) { return action }
                }
            } catch {
                end(.failure(error), &flight)
            }
        }
    }

    /// Continues down from the current link.
    private mutating func follow(_ step: ChainStep, _ flight: inout Flight) -> Action? {
        switch step {
        case .proceed:
            (index, direction) = (index + 1, .down)
        case .change(let request):
            mark(flight)
            flight.change(to: request)
            (index, direction) = (index + 1, .down)
        case .end(let outcome):
            end(outcome, &flight)
        case .ask(let question):
            return .ask(question)
        case .again(let request, let wait, let otherwise):
            return .again(request, after: wait, otherwise: otherwise)
        case .retry(let attempt, let wait):
            return .retry(attempt, after: wait)
        case .read:
            guard case .success(let response)? = outcome else {
                leave(&flight)
                return nil
            }
            return .read(response)
        }
        return nil
    }

    /// Continues up from the current link while the links let the outcome pass. The error of a link replaces the
    /// outcome.
    private mutating func ascend(
        _ links: [any ChainLink], _ flight: inout Flight
    ) throws(SessionError) -> Action? {
        switch outcome.take() {
        case .success(var response):
            while index >= top {
                let step = try links[index].receive(&response, &flight)
                guard case .proceed = step else {
                    outcome = .success(response)
                    return follow(step, &flight)
                }
                if let mark = popMark(&flight) { response.attempts = mark.attempts + response.attempts }
                index -= 1
            }
            outcome = .success(response)
        case .failure(var failure):
            while index >= top {
                let step = try links[index].receive(&failure, &flight)
                guard case .proceed = step else {
                    outcome = .failure(failure)
                    return follow(step, &flight)
                }
                if let mark = popMark(&flight) { failure = failure.adding(mark.attempts) }
                index -= 1
            }
            outcome = .failure(failure)
        case nil:
            outcome = .failure(.cancelled(flight.request.url))
        }
        return .end
    }

    /// Takes the final outcome.
    @inline(never)
    mutating func result(_ flight: inout Flight) throws(SessionError) -> StreamedResponse {
        switch outcome.take() {
        case .success(let response): return response
        case .failure(let error): throw error
        case nil: throw .cancelled(flight.request.url)
        }
    }

    // MARK: Results of actions

    /// The outcome of what is below the current link.
    mutating func receive(_ outcome: Flight.Outcome) {
        self.outcome = outcome
        (index, direction) = (index - 1, .up)
    }

    /// Takes the outcome with the completely read body, which the current link requested.
    mutating func read(_ outcome: Flight.Outcome, _ flight: inout Flight) {
        self.outcome = outcome
        leave(&flight)
    }

    /// Ends the flight at the current link.
    mutating func fail(_ error: SessionError, _ flight: inout Flight) {
        end(.failure(error), &flight)
    }

    /// Sends the request down again from the current link, after these attempts.
    mutating func sendAgain(
        _ request: SessionRequest, after attempts: [TransportMetrics], _ flight: inout Flight
    ) {
        mark(flight)
        marks[marks.count - 1].attempts += attempts
        flight.change(to: request)
        outcome = nil
        direction = .downAgain
    }

    /// Sends the outcome up from the current link.
    private mutating func end(_ outcome: Flight.Outcome, _ flight: inout Flight) {
        // The link above must not take the answer to a question of this one.
        flight.answer = nil
        self.outcome = outcome
        leave(&flight)
    }

    /// Continues up from the current link with the outcome as it is.
    mutating func leave(_ flight: inout Flight) {
        if let mark = popMark(&flight), !mark.attempts.isEmpty {
            switch outcome {
            case .success(var response):
                response.attempts = mark.attempts + response.attempts
                outcome = .success(response)
            case .failure(let failure):
                outcome = .failure(failure.adding(mark.attempts))
            case nil: break
            }
        }
        (index, direction) = (index - 1, .up)
    }

    /// Notes the request of the current link, which is about to change.
    private mutating func mark(_ flight: Flight) {
        // A link that sends again has noted the request from above already.
        if marks.last?.index != index { marks.append(Mark(index: index, request: flight.request)) }
    }

    /// Restores the request of the current link.
    private mutating func popMark(_ flight: inout Flight) -> Mark? {
        guard let last = marks.last, last.index == index else { return nil }
        marks.removeLast()
        flight.change(to: last.request)
        return last
    }
}
