extension TransportConfiguration.ResponseLimits {
    /// What a server is told. More than `headBytes`: a head between the two ends its stream, since it could be decoded,
    /// where one above the higher ends the connection.
    var headerListSize: Int {
        let (sum, overflow) = headBytes.addingReportingOverflow(64 * 1024)
        return overflow ? Int(Int32.max) : min(sum, Int(Int32.max))
    }
}
