"""Choices: what a plan decides is data, a measurement can overrule it, and nothing is decided twice."""
from claims import Claim
from claims_model import calibrated_model
from claims_networks import tensat
from claims_rules import growth, rules_hold
from claims_support import ctest
from claims_ways import absorption, gain, two_ways

CLAIMS = [
    Claim(name="no-thresholds", target="every constant of kernel, search and backends is listed with what may overrule it, and "
          "a kernel is recognised in one place", minutes=0.1, measure=ctest("-R", "^thresholds_test$"), quick=True),
    Claim(name="candidates", target="every strategy and schedule that the cpu backend offers computes what the default does: to "
          "the bit where only the time may change, within 1e-5 where sums may be reordered", minutes=1,
          measure=ctest("-R", "^candidates_test$"), quick=True),
    Claim(name="growth", target="by all rules, rows of Llama blocks are linear in their number; 32 layers of BERT-base and of "
          "a Llama-8B saturate within 100 ms, rolled and unrolled", minutes=0.2, measure=growth, quick=True),
    Claim(name="rules-hold", target="every rule holds on 1,000 random instances, 20 planted wrong ones about sums and "
          "convolutions are caught, 20,000 random graphs agree, and so do 40 random plans with random strategies of each of 4 "
          "models", minutes=40, measure=rules_hold),
    Claim(name="model", target="after `tune calibrate`, modelled and measured times of at least 300 kernels of the benches have a "
          "rank correlation of 0.9, and the median is within 1.25 times; so have kernels held out, for AVX-512 with AMX where there "
          "is one, AVX-512 without, and avx2", minutes=10, measure=calibrated_model(("", "avx512", "avx2"))),
    Claim(name="tensat", target="Tensat's seven networks, f32, batch 1: with rules and search none is slower than with fixed rules "
          "of fusion, the geometric mean is 1.15 times as fast; saturation under 1 s each; on five at least as fast as the best "
          "of torch.compile, ONNX Runtime and OpenVINO", minutes=30, measure=tensat("--budget", 60, "--rounds", 15)),
    Claim(name="two-ways", target="at least 14 graphs with two ways 1.2 times apart, by terms, cuts, strategies, schedules or "
          "the library: measured searches take the faster in 10 of 10 runs, the calibrated model in 11 of 14; explain shows both "
          "with times", minutes=30, measure=two_ways),
    Claim(name="absorption", target="latent attention to 4,096 cached tokens, as the definition says: no key or value of a head is "
          "expanded, and the searched plan is at least 3 times as fast as without rules of sums", minutes=1.5, measure=absorption),
    Claim(name="gain", target="12 graphs: a measured search is slower than the model on none and 1.25 times as fast in the "
          "geometric mean; after `tune calibrate` the model is within 5 % on eight", minutes=25, measure=gain),
]
