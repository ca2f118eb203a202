/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The testbed's switch (P4_16, v1model): longest-prefix forwarding for IPv4 and IPv6, ECMP by a
 * seeded CRC over the 5-tuple, ECN marking by queue depth, ICMP time exceeded, counters.
 *
 * The embedded target runs the same switch on DPDK's SWX pipeline (../spec); a test holds the two
 * against each other: headers, tables, keys, actions with their parameters, counters, constants.
 *
 * Written so that it ports to Tofino (TNA): one pass, every table applied once per packet, no
 * division, no multiplication, no loop; ECMP by (group, bucket) instead of a modulo; RED's line by
 * one addition of a random number (see `mark` below). To port: hash, random, counter and meter
 * become the externs Hash, Random, Counter and Meter; enq_qdepth counts cells of 80 bytes there;
 * the ICMP quotation is cut by the mirror session's length instead of truncate().
 *
 * Table entries come from the topology: hp3-fabric entries TOPOLOGY SWITCH --target bmv2.
 */
#include <core.p4>
#include <v1model.p4>

#define BUCKETS 256
#define PORTS 64
#define FLOWS 4096

#define HASH_CRC32 0
#define HASH_CRC16 1
#define HASH_CRC32_QPN 2
#define HASH_CRC16_QPN 3

/* Index of the counter `drops`. */
#define DROP_NOT_IP 0
#define DROP_BAD_HEADER 1
#define DROP_BAD_CHECKSUM 2
#define DROP_NO_ROUTE 3
#define DROP_TTL 4
#define DROP_ICMP_RATE 5

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_t {
    bit<8>  ver_ihl;
    bit<8>  tos;
    bit<16> total_len;
    bit<16> identification;
    bit<16> flags_frag;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

header ipv6_t {
    bit<32>  ver_tc_flow;
    bit<16>  payload_len;
    bit<8>   next_hdr;
    bit<8>   hop_limit;
    bit<128> src_addr;
    bit<128> dst_addr;
}

header icmp_t {
    bit<8>  type;
    bit<8>  code;
    bit<16> checksum;
    bit<32> unused;
}

/* The first 8 bytes behind the IP header: what an ICMP error quotes, and the ports. */
header l4_t {
    bit<16> sport;
    bit<16> dport;
    bit<32> rest;
}

header bth_t {
    bit<8>  opcode;
    bit<8>  flags;
    bit<16> pkey;
    bit<8>  resv8a;
    bit<24> dest_qpn;
    bit<32> psn_word;
}

/* What ECMP hashes, in this order; dst is also what the routes match. */
header key4_t {
    bit<32> seed;
    bit<32> src;
    bit<32> dst;
    bit<16> sport;
    bit<16> dport;
    bit<8>  protocol;
    bit<24> qpn;
}

header key6_t {
    bit<32>  seed;
    bit<128> src;
    bit<128> dst;
    bit<16>  sport;
    bit<16>  dport;
    bit<8>   protocol;
    bit<24>  qpn;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4_outer;
    ipv6_t     ipv6_outer;
    icmp_t     icmp;
    ipv4_t     ipv4;
    ipv6_t     ipv6;
    l4_t       l4;
    bth_t      bth;
    key4_t     key4; /* scratch: never emitted */
    key6_t     key6; /* scratch: never emitted */
}

struct metadata_t {
    bit<32> port_out;
    bit<32> seed;
    bit<8>  hash_kind;
    bit<8>  icmp;
    bit<8>  path_id;
    bit<8>  reason;
    bit<16> group;
    bit<16> bucket;
    bit<32> hash;
    bit<32> flow;
    bit<32> ecn;
    bit<32> kmin;
    bit<32> kmax;
    bit<32> width;
    bit<32> length; /* of the frame that leaves */
    bit<2>  color;
    bit<1>  discard;
}

parser hp3_parser(packet_in packet, out headers_t hdr, inout metadata_t m,
                  inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x0800: parse_ipv4;
            0x86dd: parse_ipv6;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ver_ihl, hdr.ipv4.flags_frag & 0x3fff) {
            (0x45, 0): parse_l4_of_ipv4;
            default: accept;
        }
    }

    state parse_l4_of_ipv4 {
        packet.extract(hdr.l4);
        transition select(hdr.ipv4.protocol, hdr.l4.dport) {
            (17, 4791): parse_bth;
            default: accept;
        }
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.next_hdr) {
            6: parse_l4_of_ipv6;
            17: parse_l4_of_ipv6;
            58: parse_l4_of_ipv6;
            default: accept;
        }
    }

    state parse_l4_of_ipv6 {
        packet.extract(hdr.l4);
        transition select(hdr.ipv6.next_hdr, hdr.l4.dport) {
            (17, 4791): parse_bth;
            default: accept;
        }
    }

    state parse_bth {
        packet.extract(hdr.bth);
        transition accept;
    }
}

control hp3_verify(inout headers_t hdr, inout metadata_t m) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.ver_ihl == 0x45,
            { hdr.ipv4.ver_ihl, hdr.ipv4.tos, hdr.ipv4.total_len, hdr.ipv4.identification,
              hdr.ipv4.flags_frag, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr,
              hdr.ipv4.dst_addr },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control hp3_ingress(inout headers_t hdr, inout metadata_t m, inout standard_metadata_t std) {
    counter(PORTS, CounterType.packets_and_bytes) port_rx;
    counter(FLOWS, CounterType.packets_and_bytes) flow;
    counter(16, CounterType.packets) drops;
    meter(1, MeterType.packets) icmp_rate;

    action set_config(bit<32> seed, bit<8> hash_kind, bit<8> icmp, bit<8> path_id) {
        m.seed = seed;
        m.hash_kind = hash_kind;
        m.icmp = icmp;
        m.path_id = path_id;
    }
    table switch_config {
        actions = { set_config; }
        default_action = set_config(0, 0, 0, 0);
        size = 1;
    }

    action set_local_address(bit<32> addr4, bit<128> addr6) {
        hdr.ipv4_outer.src_addr = addr4;
        hdr.ipv6_outer.src_addr = addr6;
    }
    table local_address {
        actions = { set_local_address; }
        default_action = set_local_address(0, 0);
        size = 1;
    }

    action no_route() {
        m.reason = DROP_NO_ROUTE;
    }
    action set_group(bit<16> group) {
        m.group = group;
    }
    table ipv4_route {
        key = { hdr.key4.dst: lpm; }
        actions = { set_group; no_route; }
        default_action = no_route();
        size = 1024;
    }
    table ipv6_route {
        key = { hdr.key6.dst: lpm; }
        actions = { set_group; no_route; }
        default_action = no_route();
        size = 1024;
    }

    action set_nexthop(bit<32> port, bit<48> src_mac, bit<48> dst_mac) {
        m.port_out = port;
        hdr.ethernet.src_addr = src_mac;
        hdr.ethernet.dst_addr = dst_mac;
    }
    table ecmp_group {
        key = { m.group: exact; m.bucket: exact; }
        actions = { set_nexthop; no_route; }
        default_action = no_route();
        size = 16384;
    }

    action discard(bit<8> reason) {
        m.discard = 1;
        drops.count((bit<32>)reason);
        mark_to_drop(std);
    }

    action fill_key4() {
        hdr.key4.setValid();
        hdr.key4.seed = m.seed;
        hdr.key4.src = hdr.ipv4.src_addr;
        hdr.key4.dst = hdr.ipv4.dst_addr;
        hdr.key4.sport = 0;
        hdr.key4.dport = 0;
        hdr.key4.protocol = hdr.ipv4.protocol;
        hdr.key4.qpn = 0;
    }
    action fill_key6() {
        hdr.key6.setValid();
        hdr.key6.seed = m.seed;
        hdr.key6.src = hdr.ipv6.src_addr;
        hdr.key6.dst = hdr.ipv6.dst_addr;
        hdr.key6.sport = 0;
        hdr.key6.dport = 0;
        hdr.key6.protocol = hdr.ipv6.next_hdr;
        hdr.key6.qpn = 0;
    }

    action answer4() {
        hdr.ipv4_outer.ver_ihl = 0x45;
        hdr.ipv4_outer.tos = 0xc0;
        hdr.ipv4_outer.total_len = 56;
        hdr.ipv4_outer.identification = 0;
        hdr.ipv4_outer.flags_frag = 0;
        hdr.ipv4_outer.ttl = 64;
        hdr.ipv4_outer.protocol = 1;
        hdr.ipv4_outer.dst_addr = hdr.ipv4.src_addr;
        hdr.icmp.setValid();
        hdr.icmp.type = 11;
        hdr.icmp.code = 0;
        hdr.icmp.unused = 0;
        hdr.bth.setInvalid();
        hdr.key4.src = hdr.ipv4_outer.src_addr;
        hdr.key4.dst = hdr.ipv4_outer.dst_addr;
        hdr.key4.sport = 0;
        hdr.key4.dport = 0;
        hdr.key4.protocol = 1;
        hdr.key4.qpn = 0;
        std.priority = 6;
        m.ecn = 0;
        m.length = 70;
    }
    action answer6() {
        hdr.ipv6_outer.ver_tc_flow = 0x6c000000;
        hdr.ipv6_outer.payload_len = 56;
        hdr.ipv6_outer.next_hdr = 58;
        hdr.ipv6_outer.hop_limit = 64;
        hdr.ipv6_outer.dst_addr = hdr.ipv6.src_addr;
        hdr.icmp.setValid();
        hdr.icmp.type = 3;
        hdr.icmp.code = 0;
        hdr.icmp.unused = 0;
        hdr.bth.setInvalid();
        hdr.key6.src = hdr.ipv6_outer.src_addr;
        hdr.key6.dst = hdr.ipv6_outer.dst_addr;
        hdr.key6.sport = 0;
        hdr.key6.dport = 0;
        hdr.key6.protocol = 58;
        hdr.key6.qpn = 0;
        std.priority = 6;
        m.ecn = 0;
        m.length = 110;
    }

    action hash4_crc32() {
        hash(m.hash, HashAlgorithm.crc32, 32w0, { hdr.key4.seed, hdr.key4.src, hdr.key4.dst,
            hdr.key4.sport, hdr.key4.dport, hdr.key4.protocol }, 33w0x100000000);
    }
    action hash4_crc32_qpn() {
        hash(m.hash, HashAlgorithm.crc32, 32w0, { hdr.key4.seed, hdr.key4.src, hdr.key4.dst,
            hdr.key4.sport, hdr.key4.dport, hdr.key4.protocol, hdr.key4.qpn }, 33w0x100000000);
    }
    action hash4_crc16() {
        hash(m.hash, HashAlgorithm.crc16, 32w0, { hdr.key4.seed, hdr.key4.src, hdr.key4.dst,
            hdr.key4.sport, hdr.key4.dport, hdr.key4.protocol }, 33w0x100000000);
    }
    action hash4_crc16_qpn() {
        hash(m.hash, HashAlgorithm.crc16, 32w0, { hdr.key4.seed, hdr.key4.src, hdr.key4.dst,
            hdr.key4.sport, hdr.key4.dport, hdr.key4.protocol, hdr.key4.qpn }, 33w0x100000000);
    }
    action hash6_crc32() {
        hash(m.hash, HashAlgorithm.crc32, 32w0, { hdr.key6.seed, hdr.key6.src, hdr.key6.dst,
            hdr.key6.sport, hdr.key6.dport, hdr.key6.protocol }, 33w0x100000000);
    }
    action hash6_crc32_qpn() {
        hash(m.hash, HashAlgorithm.crc32, 32w0, { hdr.key6.seed, hdr.key6.src, hdr.key6.dst,
            hdr.key6.sport, hdr.key6.dport, hdr.key6.protocol, hdr.key6.qpn }, 33w0x100000000);
    }
    action hash6_crc16() {
        hash(m.hash, HashAlgorithm.crc16, 32w0, { hdr.key6.seed, hdr.key6.src, hdr.key6.dst,
            hdr.key6.sport, hdr.key6.dport, hdr.key6.protocol }, 33w0x100000000);
    }
    action hash6_crc16_qpn() {
        hash(m.hash, HashAlgorithm.crc16, 32w0, { hdr.key6.seed, hdr.key6.src, hdr.key6.dst,
            hdr.key6.sport, hdr.key6.dport, hdr.key6.protocol, hdr.key6.qpn }, 33w0x100000000);
    }

    apply {
        bool expired = false;

        switch_config.apply();
        if (std.parser_error != error.NoError) {
            discard(DROP_BAD_HEADER);
        } else if (hdr.ipv4.isValid()) {
            m.length = (bit<32>)hdr.ipv4.total_len + 14;
            if (hdr.ipv4.ver_ihl != 0x45 || hdr.ipv4.total_len < 20 || m.length > std.packet_length) {
                discard(DROP_BAD_HEADER);
            } else if (std.checksum_error == 1) {
                discard(DROP_BAD_CHECKSUM);
            } else {
                port_rx.count((bit<32>)std.ingress_port);
                fill_key4();
                std.priority = (bit<3>)(hdr.ipv4.tos >> 5);
                m.ecn = (bit<32>)(hdr.ipv4.tos & 3);
                if (hdr.l4.isValid() && (hdr.ipv4.protocol == 17 || hdr.ipv4.protocol == 6)) {
                    hdr.key4.sport = hdr.l4.sport;
                    hdr.key4.dport = hdr.l4.dport;
                }
                if (hdr.bth.isValid()) {
                    hdr.key4.qpn = hdr.bth.dest_qpn;
                }
                expired = hdr.ipv4.ttl < 2;
                if (!expired) {
                    hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
                }
            }
        } else if (hdr.ipv6.isValid()) {
            m.length = (bit<32>)hdr.ipv6.payload_len + 54;
            if (hdr.ipv6.ver_tc_flow[31:28] != 6 || m.length > std.packet_length) {
                discard(DROP_BAD_HEADER);
            } else {
                port_rx.count((bit<32>)std.ingress_port);
                fill_key6();
                std.priority = (bit<3>)(hdr.ipv6.ver_tc_flow >> 25);
                m.ecn = (hdr.ipv6.ver_tc_flow >> 20) & 3;
                if (hdr.l4.isValid() && hdr.ipv6.next_hdr != 58) {
                    hdr.key6.sport = hdr.l4.sport;
                    hdr.key6.dport = hdr.l4.dport;
                }
                if (hdr.bth.isValid()) {
                    hdr.key6.qpn = hdr.bth.dest_qpn;
                }
                expired = hdr.ipv6.hop_limit < 2;
                if (!expired) {
                    hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
                }
            }
        } else {
            discard(DROP_NOT_IP);
        }

        /* No error about an error, about a fragment, or where the switch is told to be silent. */
        if (m.discard == 0 && expired) {
            bool is_error = (hdr.ipv4.isValid() && hdr.ipv4.protocol == 1 && hdr.l4.sport[15:8] != 8)
                || (hdr.ipv6.isValid() && hdr.ipv6.next_hdr == 58 && hdr.l4.sport[15:8] != 128);
            if (m.icmp == 0 || !hdr.l4.isValid() || is_error) {
                discard(DROP_TTL);
            } else {
                icmp_rate.execute_meter(32w0, m.color);
                if (m.color != 0) {
                    discard(DROP_ICMP_RATE);
                } else {
                    hdr.ipv4_outer.setValid();
                    hdr.ipv6_outer.setValid();
                    local_address.apply();
                    if (hdr.ipv4.isValid()) {
                        hdr.ipv6_outer.setInvalid();
                        answer4();
                    } else {
                        hdr.ipv4_outer.setInvalid();
                        answer6();
                    }
                }
            }
        }

        if (m.discard == 0) {
            bool found = false;
            if (hdr.key4.isValid()) {
                found = ipv4_route.apply().hit;
                if (m.hash_kind == HASH_CRC32) {
                    hash4_crc32();
                } else if (m.hash_kind == HASH_CRC16) {
                    hash4_crc16();
                } else if (m.hash_kind == HASH_CRC32_QPN) {
                    hash4_crc32_qpn();
                } else {
                    hash4_crc16_qpn();
                }
            } else {
                found = ipv6_route.apply().hit;
                if (m.hash_kind == HASH_CRC32) {
                    hash6_crc32();
                } else if (m.hash_kind == HASH_CRC16) {
                    hash6_crc16();
                } else if (m.hash_kind == HASH_CRC32_QPN) {
                    hash6_crc32_qpn();
                } else {
                    hash6_crc16_qpn();
                }
            }
            m.bucket = (bit<16>)(m.hash & 0xff);
            if (!found || !ecmp_group.apply().hit) {
                discard(DROP_NO_ROUTE);
            } else {
                std.egress_spec = (bit<9>)m.port_out;
                truncate(m.length); /* a router re-frames: no padding, of an expired packet the quotation alone */
                m.flow = m.hash & 0xfff;
                flow.count(m.flow);
            }
        }
    }
}

control hp3_egress(inout headers_t hdr, inout metadata_t m, inout standard_metadata_t std) {
    counter(PORTS, CounterType.packets_and_bytes) port_tx;
    counter(PORTS, CounterType.packets_and_bytes) port_ce;

    action set_ecn(bit<32> kmin, bit<32> kmax, bit<32> width) {
        m.kmin = kmin;
        m.kmax = kmax;
        m.width = width;
    }
    action no_ecn() {
        m.kmin = 0;
        m.kmax = 0xffffffff;
        m.width = 0;
    }
    table ecn_profile {
        key = { m.port_out: exact; }
        actions = { set_ecn; no_ecn; }
        default_action = no_ecn();
        size = 64;
    }

    /*
     * RED without multiplication: R is even in 0 .. width-1, width = (Kmax - Kmin) / Pmax, so
     * P(depth > Kmin + R) = Pmax (depth - Kmin) / (Kmax - Kmin). Above Kmax always.
     */
    apply {
        bit<32> depth = (bit<32>)std.enq_qdepth;
        bit<32> r = 0;
        bool mark = false;

        ecn_profile.apply();
        if (m.width != 0) {
            random(r, 32w0, m.width - 1);
        }
        mark = m.ecn != 0 && (depth > m.kmax || (m.width != 0 && depth > m.kmin + r));
        if (mark && m.ecn != 3) {
            port_ce.count(m.port_out);
            if (hdr.ipv6.isValid()) {
                hdr.ipv6.ver_tc_flow = hdr.ipv6.ver_tc_flow | 0x300000;
            } else {
                hdr.ipv4.tos = hdr.ipv4.tos | 3;
            }
        }
        /* Path telemetry, off by default: reserved bits of the BTH, outside the ICRC. */
        if (!hdr.icmp.isValid() && hdr.bth.isValid() && m.path_id != 0) {
            hdr.bth.resv8a = (hdr.bth.resv8a & 0xc0) | m.path_id;
        }
        port_tx.count(m.port_out);
    }
}

control hp3_checksums(inout headers_t hdr, inout metadata_t m) {
    apply {
        update_checksum(hdr.ipv4.isValid() && !hdr.icmp.isValid(),
            { hdr.ipv4.ver_ihl, hdr.ipv4.tos, hdr.ipv4.total_len, hdr.ipv4.identification,
              hdr.ipv4.flags_frag, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr,
              hdr.ipv4.dst_addr },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum(hdr.ipv4_outer.isValid(),
            { hdr.ipv4_outer.ver_ihl, hdr.ipv4_outer.tos, hdr.ipv4_outer.total_len,
              hdr.ipv4_outer.identification, hdr.ipv4_outer.flags_frag, hdr.ipv4_outer.ttl,
              hdr.ipv4_outer.protocol, hdr.ipv4_outer.src_addr, hdr.ipv4_outer.dst_addr },
            hdr.ipv4_outer.checksum, HashAlgorithm.csum16);
        update_checksum(hdr.icmp.isValid() && hdr.ipv4.isValid(),
            { hdr.icmp.type, hdr.icmp.code, hdr.icmp.unused, hdr.ipv4.ver_ihl, hdr.ipv4.tos,
              hdr.ipv4.total_len, hdr.ipv4.identification, hdr.ipv4.flags_frag, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.checksum, hdr.ipv4.src_addr, hdr.ipv4.dst_addr,
              hdr.l4.sport, hdr.l4.dport, hdr.l4.rest },
            hdr.icmp.checksum, HashAlgorithm.csum16);
        update_checksum(hdr.icmp.isValid() && hdr.ipv6.isValid(),
            { hdr.ipv6_outer.src_addr, hdr.ipv6_outer.dst_addr, 32w56, 24w0, 8w58, hdr.icmp.type,
              hdr.icmp.code, hdr.icmp.unused, hdr.ipv6.ver_tc_flow, hdr.ipv6.payload_len,
              hdr.ipv6.next_hdr, hdr.ipv6.hop_limit, hdr.ipv6.src_addr, hdr.ipv6.dst_addr,
              hdr.l4.sport, hdr.l4.dport, hdr.l4.rest },
            hdr.icmp.checksum, HashAlgorithm.csum16);
    }
}

control hp3_deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4_outer);
        packet.emit(hdr.ipv6_outer);
        packet.emit(hdr.icmp);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.l4);
        packet.emit(hdr.bth);
    }
}

V1Switch(hp3_parser(), hp3_verify(), hp3_ingress(), hp3_egress(), hp3_checksums(),
    hp3_deparser()) main;
