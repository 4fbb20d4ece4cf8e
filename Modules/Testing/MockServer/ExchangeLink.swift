/// What carries one exchange: a connection over HTTP/1.1, a stream over HTTP/2.
protocol ExchangeLink: Sendable {
    /// Measures delays and throttles.
    var clock: any Clock<Duration> { get }

    /// Lets a fault take its course; throws ``ExchangeEnded`` unless the exchange goes on after it.
    func perform(_ effect: MockServer.Fault.Effect) async throws

    /// Sends `100 Continue`.
    func sendContinue() async throws
}
