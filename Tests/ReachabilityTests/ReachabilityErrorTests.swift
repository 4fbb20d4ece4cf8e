import Foundation  // localizedDescription
import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(1))) struct ReachabilityErrorTests {
    @Test func anErrorIsDescribedByOneSentence() {
        let system = ReachabilityError(.socketFailed, "A netlink socket could not be opened", errorNumber: EMFILE)
        #expect(system.message == "A netlink socket could not be opened: Too many open files.")
        let other = ReachabilityError(.timeout, "The kernel did not list routes within 5 seconds")
        for error in [system, other] {
            #expect("\(error)" == error.message)
            #expect(error.localizedDescription == error.message)
            #expect(error.message.hasSuffix("."))
        }
    }
}
