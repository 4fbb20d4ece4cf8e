import CommandSupport
import HTTPTypes

/// The events of one request: its target, the server's answer, and the user's actions meanwhile. All of them follow
/// from a number.
struct TaskHistory: Sendable, CustomStringConvertible {
    enum Surface: CaseIterable, Sendable { case async, handle, callbacks }
    enum Kind: CaseIterable, Sendable { case data, upload, download, stream }
    enum Answer: String, CaseIterable, Sendable { case completes, redirects, refuses, breaksOff, stalls }
    enum Step: CaseIterable, Sendable { case resume, suspend, cancel, cancelForLater, pass, waitForBytes }

    let seed: UInt64
    let surface: Surface
    let kind: Kind
    let answer: Answer
    /// The size of the body, in bytes.
    let size: Int
    let steps: [Step]

    init(seed: UInt64) {
        var random = SplitMix(seed: seed)
        self.seed = seed
        surface = .random(using: &random)
        kind = .random(using: &random)
        answer = .random(using: &random)
        size = [0, 1, 1000, 100_000, 400_000].randomElement(using: &random) ?? 1
        var steps: [Step] = Bool.random(using: &random) ? [.resume] : []
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            // Not every history ends with a cancellation.
            let step = Step.random(using: &random)
            if step == .cancel || step == .cancelForLater, Int.random(in: 0..<3, using: &random) > 0 { continue }
            steps.append(step)
        }
        // A task that does not end by itself is ended; a suspended one is resumed.
        steps += answer == .stalls ? [.resume, .waitForBytes, .cancel] : [.resume]
        self.steps = steps
    }

    var description: String { "history \(seed): \(surface) \(kind) \(answer) \(size) \(steps)" }

    var path: String { "\(answer.rawValue)/\(size)/\(seed)" }
    var method: HTTPRequest.Method { kind == .upload ? .put : .get }
}

extension CaseIterable {
    fileprivate static func random(using generator: inout some RandomNumberGenerator) -> Self {
        // Each of these types has cases.
        allCases.randomElement(using: &generator) ?? allCases[allCases.startIndex]
    }
}
